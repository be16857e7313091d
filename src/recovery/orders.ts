import { type Order, orderSchema } from '../schemas/order.js';
import { DoneBefore } from './completed-keys.js';
import { isYoungerThan } from './delivery-status.js';
import { type Sequence, untilSettled } from './entries.js';
import { type Missed, moneyOf, timeOr } from './log-entry.js';
import type { OrdersInLog } from './orders-in-log.js';
import { PER_PAGE, pagesOf, tellingOfNone } from './pages.js';
import type { Pace } from './request-rate.js';
import type { SourceSettings } from './source.js';

/**
 * Yields the provider's orders, page by page.
 *
 * @param seen - Gets each order.
 * @param onUnreadable - Called for each record that is not an order by the specification.
 */
export async function* orderPages(
  { client, call, onProgress }: SourceSettings,
  pace: Pace,
  seen: Sequence,
  onUnreadable: () => void,
): AsyncGenerator<readonly Order[], void, undefined> {
  const pages = pagesOf(
    'orders.list',
    (page, { onNone, signal }) => {
      const onIssues = tellingOfNone(orderSchema, onNone);
      const options = { ...call, signal, perPage: PER_PAGE, page, onIssues };
      return pace.run(async () => client.orders.list(options), { signal });
    },
    { signal: call.signal, onUnreadable },
  );
  for await (const { items, page, totalPages } of pages) {
    for (const { id } of items) seen.add(id);
    yield items;
    onProgress({ step: 'orders', done: page, of: totalPages });
  }
}

/** Paid orders that the log does not mention. */
export interface Unlogged {
  readonly unlogged: readonly Missed[];
  /** The number of orders whose webhook may still arrive. */
  readonly waiting: number;
  /** The number of records that are not orders. */
  readonly unreadable: number;
}

/**
 * Finds the paid orders that the log does not mention, such as those paid while the endpoint was disabled.
 *
 * @param sends - Whether the provider sends to the endpoint. If it does, the webhook of an order paid just
 *   now may still arrive.
 */
export async function findUnlogged(
  settings: SourceSettings,
  pace: Pace,
  logged: OrdersInLog,
  sends: boolean,
): Promise<Unlogged> {
  const { since, now, pendingAfterMs, receiver, urls } = settings;
  const before = new DoneBefore(receiver);
  const unlogged = new Map<string, Missed>();
  let [waiting, unreadable] = [0, 0];
  const timeOf = ({ updated_at, created_at }: Order) => timeOr(updated_at, timeOr(created_at, now));
  await untilSettled(
    () => unlogged.size,
    async (seen) => {
      [waiting, unreadable] = [0, 0];
      const onUnreadable = () => {
        unreadable += 1;
      };
      for await (const orders of orderPages(settings, pace, seen, onUnreadable)) {
        const paid = orders.filter(
          (order) => timeOf(order) >= since && !logged.has(order.id) && receiver.isPaid(order),
        );
        const wanted = paid.filter((order) => !sends || !isYoungerThan(pendingAfterMs, order, now));
        waiting += paid.length - wanted.length;
        const reading = wanted.map((order) => ({
          order,
          delivery: unlogged.has(order.id) ? undefined : receiver.readOrder(order, urls[0] ?? ''),
        }));
        // The `secret` function may take a different time for each order. The store is asked about all of them at once.
        await Promise.allSettled(reading.map(({ delivery }) => delivery));
        const add = async ({ order, delivery }: (typeof reading)[number]) => {
          const known = unlogged.get(order.id)?.isDone;
          const isDone = known ?? (await before.has(async () => delivery));
          unlogged.set(order.id, { ...toMissed(order, timeOf(order)), isDone, isUnsafe: false });
        };
        await Promise.all(reading.map(add));
      }
    },
  );
  return { unlogged: [...unlogged.values()], waiting, unreadable };
}

function toMissed(order: Order, changedAt: number): Omit<Missed, 'isDone' | 'isUnsafe'> {
  return { id: order.id, ...moneyOf(order), ...asUnlogged(order, changedAt), changedAt };
}

/** Returns what `findEarlier` judges an order by that the log does not mention. */
export function asUnlogged({ id, created_at }: Order, otherwise: number) {
  const sentAt = timeOr(created_at, otherwise);
  const about = { event: 'order:paid', recordId: id, isPaid: true, changedAt: sentAt } as const;
  return { ...about, reason: 'unlogged', hasReceipt: false, sentAt, shop: undefined } as const;
}

/**
 * Returns whether an order that the log does not mention can be run: a later delivery of it must not deliver
 * it again.
 */
export function isSafeUnlogged({ receiver, urls }: SourceSettings): boolean {
  // Nothing says to which of several shops the order belongs.
  return receiver.isOncePerOrder() && !(receiver.findsShop && urls.length > 1);
}
