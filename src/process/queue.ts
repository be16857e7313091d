import { WebhookError } from '../errors/errors.js';
import type { SealedDelivery } from '../request/delivery.js';
import { withTimeout } from '../runtime/timing.js';
import { withoutData } from '../stores/guard.js';

/** The options for storing a delivery in a queue. */
export interface HandOffOptions<Tx = never> {
  /** The idempotency key: the same for every retry of a delivery. */
  readonly key: string;
  /** Fires when the receiver gives up and answers 503. */
  readonly signal: AbortSignal;
  /**
   * A transaction of the caller's, for a queue that supports one: the delivery is stored when it commits.
   * Default: the delivery is stored on its own.
   */
  readonly tx?: Tx;
}

/**
 * A durable queue. The receiver stores verified deliveries in it and answers; the worker of the queue processes
 * them. Work that goes on after the answer, such as a promise passed to `waitUntil`, is not a queue: it is lost
 * when its process ends.
 *
 * For a queue of your own: `toJob` turns a delivery into JSON, and the worker calls `runJob`.
 *
 * @example
 * const queue: HandOff = {
 *   durable: true,
 *   enqueue: async (delivery, { key }) => {
 *     await jobs.add(key, toJob(delivery));
 *     return { id: key };
 *   },
 * };
 */
export interface HandOff<Tx = never> {
  readonly durable: true;
  /** A short description of the queue, for logs. */
  readonly description?: string | undefined;
  /**
   * Stores a delivery. Resolves when it is durably stored; until then, the receiver does not answer with success.
   */
  enqueue(delivery: SealedDelivery, options: HandOffOptions<Tx>): Promise<{ readonly id: string }>;
  /**
   * Stores a delivery that the queue may remember as completed, so that it is processed again. Without it,
   * `receiver.redrive` runs the handlers itself. Only a delivery that could not be verified then goes through
   * `enqueue`: it has a key that the queue cannot remember, and the receiver may have no handlers.
   */
  redrive?(delivery: SealedDelivery, options: HandOffOptions<Tx>): Promise<{ readonly id: string }>;
}

/** Waits until a delivery is durably in the queue. Rejects if that fails or takes too long. */
export async function handOff(
  queue: HandOff,
  delivery: SealedDelivery,
  how: 'enqueue' | 'redrive' = 'enqueue',
): Promise<void> {
  const late = new AbortController();
  const options = { key: delivery.key, signal: late.signal };
  const enqueue = async () =>
    how === 'redrive' && queue.redrive
      ? queue.redrive(delivery, options)
      : queue.enqueue(delivery, options);
  try {
    const job = await withTimeout(enqueue(), 'The queue');
    if (typeof job?.id === 'string') return;
  } catch (error) {
    late.abort(error);
    throw withoutData(error);
  }
  throw new WebhookError(
    'queue_invalid',
    'The queue returned no { id }, and may not have the delivery.',
  );
}
