import type { IdempotencyStore, ListFilter, StoredDelivery } from 'storefront-webhooks';

const PAGE = 100;

/** All deliveries in a state, however many: a page at a time. */
export async function* deliveriesIn(
  store: IdempotencyStore,
  filter: Pick<ListFilter, 'state' | 'scope'>,
): AsyncGenerator<StoredDelivery> {
  for (let after: string | undefined; ; ) {
    const page = await store.list({ ...filter, after, limit: PAGE });
    yield* page;
    after = page.at(-1)?.key;
    if (page.length < PAGE) return;
  }
}

/** A delivery as the store has it now; `undefined` where it is not in this state any more. */
export async function findNow(
  store: IdempotencyStore,
  { key, state }: Pick<StoredDelivery, 'key' | 'state'>,
): Promise<StoredDelivery | undefined> {
  const [found] = await store.list({ state, after: before(key), limit: 1 });
  return found?.key === key ? found : undefined;
}

/** The greatest key that is less. */
function before(key: string): string | undefined {
  const number = BigInt(`0x${key}`);
  return number === 0n ? undefined : (number - 1n).toString(16).padStart(key.length, '0');
}
