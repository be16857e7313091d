import type { IdempotencyStore, StoredDelivery } from 'storefront-webhooks';
import type { State } from './states.js';

const PAGE = 100;

/** Yields all deliveries in the given states, read a page at a time. */
export async function* deliveriesIn(
  store: IdempotencyStore,
  states: readonly State[],
  scope: string | undefined,
): AsyncGenerator<StoredDelivery> {
  for (const state of states) {
    for (let after: string | undefined; ; ) {
      const page = await store.list({ state, scope, after, limit: PAGE });
      yield* page;
      after = page.at(-1)?.key;
      if (page.length < PAGE) break;
    }
  }
}

/** Reads a delivery again; `undefined` if it has left all of the given states. */
export async function findNow(
  store: IdempotencyStore,
  key: string,
  states: readonly State[],
): Promise<StoredDelivery | undefined> {
  for (const state of states) {
    const [found] = await store.list({ state, after: before(key), limit: 1 });
    if (found?.key === key) return found;
  }
  return undefined;
}

/** Returns the greatest key below a given one. */
function before(key: string): string | undefined {
  const number = BigInt(`0x${key}`);
  return number === 0n ? undefined : (number - 1n).toString(16).padStart(key.length, '0');
}
