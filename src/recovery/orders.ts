import type { Issue } from '../schemas/issue.js';
import { type Order, orderSchema } from '../schemas/order.js';
import { isNone } from '../schemas/resource.js';
import { DoneBefore } from './done-before.js';
import { type Sequence, untilSettled } from './entries.js';
import { type Missed, moneyOf, timeOr } from './missed.js';
import type { Pace } from './pace.js';
import { PER_PAGE, pagesOf } from './paging.js';
import type { SourceSettings } from './source.js';

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
  const options = {
    perPage: PER_PAGE,
    onIssues: (_: unknown, issues: readonly Issue[]) => {
      if (isNone(orderSchema, issues)) onUnreadable();
    },
    ...(signal && { signal }),
  };
  const pages = pagesOf((page) => pace.run(async () => client.orders.list({ ...options, page })));
  for await (const { items, page, totalPages } of pages) {
    for (const { id } of items) seen.add(id);
    yield items;
    onProgress({ step: 'orders', done: page, of: totalPages });
  }
}

/**
 * Reads the orders for those that are paid and of which the log tells nothing, as while the endpoint was
 * disabled.
 *
 * @returns Those, and how many records are no order.
 */
export async function findUnlogged(
  settings: SourceSettings,
  pace: Pace,
  logged: ReadonlySet<string>,
): Promise<{ readonly unlogged: readonly Missed[]; readonly unreadable: number }> {
  const { since, now, receiver, urls } = settings;
  const before = new DoneBefore(receiver);
  const unlogged = new Map<string, Missed>();
  let unreadable = 0;
  await untilSettled(
    () => unlogged.size,
    async (seen) => {
      unreadable = 0;
      const onUnreadable = () => {
        unreadable += 1;
      };
      for await (const orders of orderPages(settings, pace, seen, onUnreadable)) {
        for (const order of orders) {
          const at = timeOr(order.updated_at, timeOr(order.created_at, now));
          if (at < since || logged.has(order.id) || !receiver.isPaid(order)) continue;
          const read = () => receiver.readOrder(order, urls[0] ?? '');
          const isDone = unlogged.get(order.id)?.isDone ?? (await before.has(read));
          unlogged.set(order.id, { ...toMissed(order, at), isDone });
        }
      }
    },
  );
  return { unlogged: [...unlogged.values()], unreadable };
}

function toMissed(order: Order, at: number): Omit<Missed, 'isDone'> {
  const { id } = order;
  const about = { id, event: 'order:paid', reason: 'unlogged', recordId: id } as const;
  return { ...about, toldAt: at, changedAt: at, ...moneyOf(order) };
}
