import { WebhookError } from '../errors.js';
import type { SealedDelivery } from '../request/delivery.js';
import { withoutData } from '../stores/guard.js';
import { CALL_MS, withTimeout } from '../timing.js';

/** How a delivery is handed off. */
export interface HandOffOptions<Tx = never> {
  /** The idempotency key: the same for every retry of a delivery. */
  readonly key: string;
  /** Fires when the sender will be told to come back later. */
  readonly signal: AbortSignal;
  /**
   * A transaction of the caller's, for a queue that takes one: the delivery is stored when it commits.
   * Default: it is stored by itself.
   */
  readonly tx?: Tx;
}

/**
 * A durable queue: verified deliveries are handed to it, answered, and processed by its worker. What
 * goes on after the answer, such as a promise given to `waitUntil`, is no queue: it dies with its
 * process.
 *
 * For a queue of your own: `toJob` makes JSON of a delivery, and `runJob` is the inside of the worker.
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
  /** What it is, in a few words for a person. */
  readonly description?: string | undefined;
  /** Resolves once the delivery is durably stored. Until then the sender is told nothing good. */
  enqueue(delivery: SealedDelivery, options: HandOffOptions<Tx>): Promise<{ readonly id: string }>;
  /**
   * As {@link enqueue}, where the queue may remember the delivery as one that it is done with: it is
   * processed again. Without it, `receiver.redrive` runs the handlers itself.
   */
  redrive?(delivery: SealedDelivery, options: HandOffOptions<Tx>): Promise<{ readonly id: string }>;
}

/** Waits until a delivery is durably in the queue; rejects where that fails or takes too long. */
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
    const job = await withTimeout(enqueue(), 'The queue', CALL_MS);
    if (typeof job?.id === 'string') return;
  } catch (error) {
    late.abort(error);
    throw withoutData(error);
  }
  throw new WebhookError(
    'queue_invalid',
    'The queue gave no { id } for the delivery, so it may not have stored it.',
  );
}
