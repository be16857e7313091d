import { WebhookError } from '../errors.js';
import type { IdempotencyStore } from '../stores/store.js';

/** How many keys are looked at in one go, so that no claim waits long behind it. */
const LIMIT = 500;
const EVERY_MS = 60_000;

/**
 * Has a durable store forget what is old, from time to time and beside the deliveries: nobody has to
 * set up a job for it. What is behind is caught up with at every delivery.
 */
export class Purging {
  readonly #store: IdempotencyStore;
  readonly #onError: (error: unknown) => void;
  #dueAt = performance.now();
  /** Resolves once no purging is under way. */
  idle: Promise<void> = Promise.resolve();

  constructor(store: IdempotencyStore, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /** Called once a delivery is done with, so that it need not wait for this. */
  ifDue(): void {
    if (!this.#store.durable || performance.now() < this.#dueAt) return;
    this.idle = this.#purge();
  }

  async #purge(): Promise<void> {
    // The next time is set before anything is waited for, so that one purge runs at a time.
    this.#dueAt = performance.now() + EVERY_MS;
    try {
      if ((await this.#store.purge(LIMIT)) >= LIMIT) this.#dueAt = 0;
    } catch (cause) {
      const message = 'The store could not delete what is old.';
      this.#onError(new WebhookError('store_unavailable', message, { cause }));
    }
  }
}
