import type { Settings } from '../process/read-options.js';
import { leaseKey } from '../request/key.js';
import type { UnfinishedState } from '../stores/store.js';

/** The deliveries that a store has and that are not done. */
export interface Unfinished {
  /** The state of each order's delivery, by the order's id. */
  readonly orders: ReadonlyMap<string, UnfinishedState>;
  /** When each delivery was last tried, by its key: milliseconds, by the store's clock. */
  readonly triedAt: ReadonlyMap<string, number>;
}

/** Returns the keys that the store has as done; `undefined` if the store cannot answer. */
export async function findDone(
  { store }: Settings,
  keys: readonly string[],
): Promise<string[] | undefined> {
  if (!store.isDone) return undefined;
  const asked = keys.map(async (key) => ((await store.isDone?.(key)) ? [key] : []));
  return (await Promise.all(asked)).flat();
}

const PAGE = 100;

export async function findUnfinished({ store, scope }: Settings): Promise<Unfinished> {
  const orders = new Map<string, UnfinishedState>();
  const triedAt = new Map<string, number>();
  for (const state of ['failing', 'stalled', 'dead'] as const) {
    for (let after: string | undefined; ; ) {
      const page = await store.list({ state, scope, after, limit: PAGE });
      for (const { key, orderId, lastTriedAt } of page) {
        if (orderId !== undefined) orders.set(orderId, state);
        if (lastTriedAt) triedAt.set(key, lastTriedAt.getTime());
      }
      after = page.at(-1)?.key;
      if (page.length < PAGE) break;
    }
  }
  return { orders, triedAt };
}

/** Takes a named lease. Resolves to `false` if another process has it. */
export async function takeLease(
  { store, scope = '' }: Settings,
  name: string,
  leaseMs: number,
): Promise<boolean> {
  const about = { id: name, event: name, receivedAt: Date.now(), body: undefined };
  const { state } = await store.claim(
    { key: leaseKey(scope, name), scope, ...about },
    {
      owner: crypto.randomUUID(),
      leaseMs,
      keepMs: Number.POSITIVE_INFINITY,
      maxCrashes: Number.POSITIVE_INFINITY,
    },
  );
  return state === 'acquired';
}
