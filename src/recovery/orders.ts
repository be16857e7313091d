import type { Order } from '../schemas/order.js';
import { type Missed, moneyOf, timeOr } from './missed.js';
import type { Pace } from './pace.js';
import { PER_PAGE, pagesOf } from './paging.js';
import type { SourceSettings } from './source.js';

/**
 * Reads the orders for those that are paid and of which the log tells nothing, as while the endpoint was
 * disabled.
 */
export async function findUnlogged(
  { client, since, now, signal, onProgress, receiver }: SourceSettings,
  pace: Pace,
  logged: ReadonlySet<string>,
): Promise<Missed[]> {
  const unlogged = new Map<string, Missed>();
  const options = { perPage: PER_PAGE, onIssues() {}, ...(signal && { signal }) };
  const pages = pagesOf((page) => pace.run(async () => client.orders.list({ ...options, page })));
  for await (const { items, page, totalPages } of pages) {
    for (const order of items) {
      const at = timeOr(order.updated_at, timeOr(order.created_at, now));
      if (at < since || logged.has(order.id) || !receiver.isPaid(order)) continue;
      unlogged.set(order.id, toMissed(order, at));
    }
    onProgress({ step: 'orders', done: page, of: totalPages });
  }
  return [...unlogged.values()];
}

function toMissed(order: Order, at: number): Missed {
  const { id } = order;
  const about = { id, event: 'order:paid', reason: 'unlogged', recordId: id } as const;
  return { ...about, toldAt: at, changedAt: at, ...moneyOf(order) };
}
