import type { IdempotencyStore, StoredDelivery } from 'storefront-webhooks';
import { STATES, type State } from './states.js';

const PAGE = 100;
/** How many characters the beginning of a key or an id must have to name a delivery. */
const MIN_PREFIX = 10;
const KEY = /^[\da-f]{64}$/;

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

/** Finds a delivery by its key, its id or the id of its order, or by the beginning of one of these. */
export async function find(
  store: IdempotencyStore,
  given: string,
): Promise<StoredDelivery | undefined> {
  // Without reading all pages before it.
  const byKey = KEY.test(given) ? await findNow(store, given, STATES) : undefined;
  if (byKey) return byKey;
  // A narrow list cuts keys and ids, and marks each cut with "…".
  const wanted = given.replace(/…$/, '');
  const isCut = wanted !== given || wanted.length >= MIN_PREFIX;
  let begun: StoredDelivery | undefined;
  for await (const delivery of deliveriesIn(store, STATES, undefined)) {
    const names = [delivery.key, delivery.orderId, delivery.id];
    // Also if a longer id that begins with this one comes first.
    if (names.includes(given)) return delivery;
    // A cut name is longer than what is left of it.
    const isBegun = (name = '') => name.length > wanted.length && name.startsWith(wanted);
    if (isCut && names.some(isBegun)) begun ??= delivery;
  }
  return begun;
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
