import type { SealedDelivery } from '../delivery.js';
import { WebhookError } from '../errors.js';
import type { Outcome } from '../outcome.js';
import { describeError, printable } from '../printable.js';
import { type Dispatching, type Worked, work } from './work.js';

/** {@link work}, where whatever is thrown can be kept by a queue, in its log and in its database. */
export async function workSafely(
  receiver: Dispatching,
  delivery: SealedDelivery,
  options: { readonly lastAttempt: boolean },
): Promise<Worked> {
  try {
    return await work(receiver, delivery, options);
  } catch (error) {
    // A new one: an error may carry anything, such as the payload, or text that jsonb refuses.
    throw unfinished(delivery, describeError(error));
  }
}

/** What a worker throws, so that its queue has the delivery tried again. */
export function unfinished({ id }: SealedDelivery, why: Outcome | string): WebhookError {
  return new WebhookError(
    'delivery_unfinished',
    `The delivery ${printable(id)} is not done yet: ${why}.`,
  );
}
