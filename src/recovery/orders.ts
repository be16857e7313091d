import { type Order, orderSchema } from '../schemas/order.js';
import { DoneBefore } from './done-before.js';
import { type Sequence, untilSettled } from './entries.js';
import { type Missed, moneyOf, timeOr } from './missed.js';
import type { Pace } from './pace.js';
import { PER_PAGE, pagesOf, tellingOfNone } from './paging.js';
import type { SourceSettings } from './source.js';
import { isYoungerThan } from './standing.js';
import type { ToldOrders } from './told-orders.js';

/**
 * The provider's orders, page by page.
 *
 * @param seen - Told of each order.
 * @param onUnreadable - Told of what is no order of the specification.
 */
export async function* orderPages(
  { client, signal, onProgress }: SourceSettings,
  pace: Pace,
  seen: Sequence,
  onUnreadable: () => void,
): AsyncGenerator<readonly Order[], void, undefined> {
  const options = { perPage: PER_PAGE, ...(signal && { signal }) };
  const pages = pagesOf(
    (page, onNone) =>
      pace.run(async () =>
        client.orders.list({ ...options, page, onIssues: tellingOfNone(orderSchema, onNone) }),
      ),
    onUnreadable,
  );
  for await (const { items, page, totalPages } of pages) {
    for (const { id } of items) seen.add(id);
    yield items;
    onProgress({ step: 'orders', done: page, of: totalPages });
  }
}

/** Paid orders of which the log does not tell. */
export interface Unlogged {
  readonly unlogged: readonly Missed[];
  /** Of how many the webhook is about to come. */
  readonly waiting: number;
  /** How many records are no order. */
  readonly unreadable: number;
}

/**
 * Reads the orders for those that are paid and of which the log tells nothing, as while the endpoint was
 * disabled.
 *
 * @param sends - Whether the provider sends: then a webhook of what was paid just now is about to come.
 */
export async function findUnlogged(
  settings: SourceSettings,
  pace: Pace,
  told: ToldOrders,
  sends: boolean,
): Promise<Unlogged> {
  const { since, now, pendingAfterMs, receiver, urls } = settings;
  const before = new DoneBefore(receiver);
  const unlogged = new Map<string, Missed>();
  let [waiting, unreadable] = [0, 0];
  await untilSettled(
    () => unlogged.size,
    async (seen) => {
      [waiting, unreadable] = [0, 0];
      const onUnreadable = () => {
        unreadable += 1;
      };
      for await (const orders of orderPages(settings, pace, seen, onUnreadable)) {
        for (const order of orders) {
          const at = timeOr(order.updated_at, timeOr(order.created_at, now));
          if (at < since || told.has(order.id) || !receiver.isPaid(order)) continue;
          if (sends && isYoungerThan(pendingAfterMs, order, now)) {
            waiting += 1;
            continue;
          }
          const read = () => receiver.readOrder(order, urls[0] ?? '');
          const isDone = unlogged.get(order.id)?.isDone ?? (await before.has(read));
          unlogged.set(order.id, { ...toMissed(order, at), isDone });
        }
      }
    },
  );
  return { unlogged: [...unlogged.values()], waiting, unreadable };
}

function toMissed(order: Order, at: number): Omit<Missed, 'isDone'> {
  const { id } = order;
  const about = { id, event: 'order:paid', reason: 'unlogged', recordId: id } as const;
  return { ...about, toldAt: at, changedAt: at, ...moneyOf(order) };
}
