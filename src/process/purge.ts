import { WebhookError } from '../errors/errors.js';
import type { IdempotencyStore } from '../stores/store.js';

/** How many keys one purge deletes at most, so that no claim waits long for it. */
const LIMIT = 500;

const EVERY_MS = 60_000;

/**
 * Deletes expired records from the store, about once a minute beside the deliveries, so that no operator has
 * to set up a job for it. If a purge reaches its limit, the next delivery starts another one.
 */
export class Purger {
  readonly #store: IdempotencyStore;
  readonly #onError: (error: unknown) => void;
  #dueAt = performance.now();

  constructor(store: IdempotencyStore, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /** Starts a purge if one is due. Call it after a delivery, which then need not wait for the purge. */
  ifDue(): Promise<void> | undefined {
    return performance.now() >= this.#dueAt ? this.#purge() : undefined;
  }

  async #purge(): Promise<void> {
    // Set the flag before the first await, so that only one purge runs at a time.
    this.#dueAt = performance.now() + EVERY_MS;
    try {
      if ((await this.#store.purge(LIMIT)) >= LIMIT) this.#dueAt = 0;
    } catch (cause) {
      const message = 'The store could not delete expired records.';
      this.#onError(new WebhookError('store_unavailable', message, { cause }));
    }
  }
}
