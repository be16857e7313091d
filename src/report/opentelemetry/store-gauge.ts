import type { Meter } from '@opentelemetry/api';
import { withTimeout } from '../../runtime/timing.js';
import type { IdempotencyStore, UnfinishedState } from '../../stores/store.js';
import { STATE, STORE_DELIVERIES } from './names.js';

/** How long a collection waits for the store: shorter than the timeout of a scraper. */
const COUNT_MS = 5_000;
/** After this time without an answer, the store is asked again. */
const GIVE_UP_MS = 60_000;

/** Counts the unfinished deliveries of a store whenever metrics are collected. */
export function observeStore(meter: Meter, store: IdempotencyStore): void {
  const states = (['dead', 'stalled', 'failing'] as const).map(
    (state) => new Counting(store, state),
  );
  const gauge = meter.createObservableGauge(STORE_DELIVERIES, {
    unit: '{delivery}',
    description: 'Deliveries in the store that are dead, stalled or failing.',
  });
  gauge.addCallback(async (result) => {
    await Promise.all(
      states.map(async (counting) => {
        const count = await counting.count();
        if (count !== undefined) result.observe(count, { [STATE]: counting.state });
      }),
    );
  });
}

/** Counts the deliveries in one state. At most one query runs at a time, however many collectors there are. */
class Counting {
  readonly state: UnfinishedState;
  readonly #store: IdempotencyStore;
  #asked: Promise<number> | undefined;

  constructor(store: IdempotencyStore, state: UnfinishedState) {
    this.#store = store;
    this.state = state;
  }

  /**
   * Returns the count; `undefined` if the store does not answer in time. A slow query goes on, and is not
   * repeated.
   */
  async count(): Promise<number | undefined> {
    // Cleared after this assignment, even if the store throws at once.
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = undefined;
    });
    try {
      return await withTimeout(this.#asked, 'The store', COUNT_MS);
    } catch {
      return undefined;
    }
  }

  async #ask(): Promise<number> {
    return withTimeout(this.#store.count({ state: this.state }), 'The store', GIVE_UP_MS);
  }
}
