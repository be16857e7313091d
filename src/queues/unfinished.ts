import { UsageError, WebhookError } from '../errors.js';
import type { Outcome } from '../outcome.js';
import { quoted } from '../report/log.js';
import type { SealedDelivery } from '../request/delivery.js';
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
    // A new one: an error of somebody else's may carry anything, such as the payload.
    const isOurs = error instanceof WebhookError || error instanceof UsageError;
    throw unfinished(delivery, isOurs ? error.message : 'it could not be read');
  }
}

/** What a worker throws, so that its queue has the delivery tried again. */
export function unfinished({ id }: SealedDelivery, why: Outcome | string): WebhookError {
  return new WebhookError(
    'delivery_unfinished',
    `The delivery ${quoted(id, 200)} is not done yet: ${why}.`,
  );
}
