import type { Settings } from '../process/read-options.js';
import { parseJson } from '../request/delivery.js';
import { leaseKey } from '../request/key.js';
import { unwrapBody } from '../request/unwrap.js';
import { findUnpaid } from '../schemas/order.js';
import { isJsonObject } from '../schemas/values.js';
import type { StoredDelivery, UnfinishedState } from '../stores/store.js';

/**
 * Whether a delivery that says that an order is paid delivers the order once it is done. `maybe`: only if nothing else
 * delivers it.
 */
export type Delivers = 'yes' | 'maybe' | 'no';

/** An unfinished delivery that says that its order is paid. */
export interface UnfinishedOrder {
  readonly state: UnfinishedState;
  readonly delivers: Exclude<Delivers, 'no'>;
}

/** The deliveries that a store has and that are not done. */
export interface Unfinished {
  /** The delivery that says that the order is paid, by the order's id. */
  readonly orders: ReadonlyMap<string, UnfinishedOrder>;
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

/**
 * @param deliversBy - Whether the handlers of an event deliver a paid order.
 * @param scopes - The scopes whose orders are wanted: two shops in one store may have the same order id. Default: all.
 */
export async function findUnfinished(
  settings: Settings,
  deliversBy: (event: string) => Delivers,
  scopes?: ReadonlySet<string>,
): Promise<Unfinished> {
  const { store, scope } = settings;
  const orders = new Map<string, UnfinishedOrder>();
  const triedAt = new Map<string, number>();
  for (const state of ['failing', 'stalled', 'dead'] as const) {
    for (let after: string | undefined; ; ) {
      const page = await store.list({ state, scope, after, limit: PAGE });
      for (const stored of page) {
        const { key, lastTriedAt } = stored;
        if (lastTriedAt) triedAt.set(key, lastTriedAt.getTime());
        if (scopes?.has(stored.scope) === false) continue;
        // Another delivery of the order, such as an `order:created`, does not bring the goods when it is done.
        const { orderId, event } = findPaid(stored, settings) ?? {};
        if (orderId === undefined || event === undefined) continue;
        const delivers = deliversBy(event);
        if (delivers === 'no') continue;
        if (delivers === 'yes' || orders.get(orderId)?.delivers !== 'yes')
          orders.set(orderId, { state, delivers });
      }
      after = page.at(-1)?.key;
      if (page.length < PAGE) break;
    }
  }
  return { orders, triedAt };
}

/** Returns the event and the order of a delivery that says that the order is paid. */
function findPaid(stored: StoredDelivery, settings: Settings) {
  const { event = stored.event, record } = readParts(stored, settings) ?? {};
  const { id = stored.orderId, status } = isJsonObject(record) ? record : {};
  // An `order:paid` counts in any state: one that contradicts its event is dead for that very reason.
  const isPaid = event === PAID || findUnpaid(status, settings.paidStatuses) === undefined;
  return isPaid && typeof id === 'string' ? { event, orderId: id } : undefined;
}

function readParts({ body, id, event }: StoredDelivery, { unwrap }: Settings) {
  const json = parseJson(body);
  try {
    return json && unwrapBody(json.value, unwrap, { id, event }, body.length);
  } catch {
    // The user's function threw, as it will when the delivery is redriven, and is reported then.
    return undefined;
  }
}

const PAID = 'order:paid';

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
