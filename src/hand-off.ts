import type { SealedDelivery } from './delivery.js';
import { WebhookError } from './errors.js';
import { CALL_MS, inTime } from './in-time.js';

/** A durable queue: verified deliveries are handed to it, answered, and processed by its worker. */
export interface HandOff {
  readonly durable: true;
  /**
   * Resolves once the delivery is durably stored. Until then the sender is told nothing good.
   *
   * @param options.key - The idempotency key: the same for every retry of a delivery.
   * @param options.signal - Fires when the sender will be told to come back later.
   */
  enqueue(
    delivery: SealedDelivery,
    options: { readonly key: string; readonly signal: AbortSignal },
  ): Promise<{ readonly id: string; readonly duplicate: boolean | 'unknown' }>;
}

/** Waits until a delivery is durably in the queue; rejects where that fails or takes too long. */
export async function handOff(queue: HandOff, delivery: SealedDelivery): Promise<void> {
  const late = new AbortController();
  const enqueue = async () => queue.enqueue(delivery, { key: delivery.key, signal: late.signal });
  try {
    const job = await inTime(enqueue(), 'The queue', CALL_MS);
    if (typeof job?.id === 'string') return;
  } catch (error) {
    late.abort(error);
    throw error;
  }
  throw new WebhookError(
    'queue_invalid',
    'The queue gave no { id } for the delivery, so it may not have stored it.',
  );
}
