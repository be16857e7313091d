import type { SealedDelivery } from './delivery.js';

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

const ENQUEUE_MS = 10_000;

/** Waits until a delivery is durably in the queue; rejects where that fails or takes too long. */
export async function handOff(queue: HandOff, delivery: SealedDelivery): Promise<void> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort(new Error(`The queue did not store the delivery within ${ENQUEUE_MS} ms.`));
  }, ENQUEUE_MS);
  try {
    await Promise.race([
      queue.enqueue(delivery, { key: delivery.key, signal: late.signal }),
      new Promise((_, reject) => {
        late.signal.addEventListener('abort', () => reject(late.signal.reason));
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
