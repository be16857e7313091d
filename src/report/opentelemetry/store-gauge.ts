import type { Meter } from '@opentelemetry/api';
import type { IdempotencyStore, UnfinishedState } from '../../stores/store.js';
import { withTimeout } from '../../timing.js';
import { STATE, STORE_DELIVERIES } from './names.js';

/** Less than a scraper waits. */
const COUNT_MS = 5_000;
/** When one that never answers is asked again. */
const GIVE_UP_MS = 60_000;

/** Has what has not come to its end counted whenever metrics are collected. */
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

/** Asks a store how many there are: one question at a time, whoever collects. */
class Counting {
  readonly state: UnfinishedState;
  readonly #store: IdempotencyStore;
  #asked: Promise<number> | undefined;

  constructor(store: IdempotencyStore, state: UnfinishedState) {
    this.#store = store;
    this.state = state;
  }

  /** `undefined` where the store does not say in time. A question that is slow is not asked again meanwhile. */
  async count(): Promise<number | undefined> {
    this.#asked ??= this.#ask();
    try {
      return await withTimeout(this.#asked, 'The store', COUNT_MS);
    } catch {
      return undefined;
    }
  }

  async #ask(): Promise<number> {
    try {
      return await withTimeout(this.#store.count({ state: this.state }), 'The store', GIVE_UP_MS);
    } finally {
      this.#asked = undefined;
    }
  }
}
