import type { ChildProcess } from 'node:child_process';
import { nextMessage } from './children.js';
import type { FromReceiver, ToReceiver } from './messages.js';
import type { TestedStore } from './stores.js';

/** Longer than the lock of a dead worker lasts, plus the growing pauses of the queue. */
const DRAIN_MS = 120_000;

/**
 * Waits until the queue has processed all answered deliveries. Dead ones are redriven, as an operator does. A
 * delivery that is not processed in time counts as lost.
 *
 * @param any - Returns a receiver that is alive.
 */
export async function drain(
  store: TestedStore,
  any: () => ChildProcess | undefined,
  ids: readonly string[],
  prefix: string,
): Promise<number> {
  let redriven = 0;
  const endAt = performance.now() + DRAIN_MS;
  const count = async (query: TestedStore['query'], table: string) => {
    const [row] = await query(
      `SELECT COUNT(DISTINCT delivery) AS n FROM ${table} AND delivery LIKE '${prefix}%'`,
    );
    return Number(row?.n);
  };
  while (performance.now() < endAt) {
    redriven += await redrive(any());
    const ran = await count(store.queryRuns, "handler_run WHERE handler = 'plain'");
    const sold = await count(store.query, 'sale WHERE TRUE');
    if (Math.min(ran, sold) >= ids.length) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return redriven;
}

/** Redrives dead deliveries, as an operator does. */
export async function redrive(receiver: ChildProcess | undefined): Promise<number> {
  if (!receiver) throw new Error('No receiver is left.');
  receiver.send({ kind: 'redrive' } satisfies ToReceiver);
  const message = await nextMessage<FromReceiver>(receiver, ({ kind }) => kind === 'redriven');
  return message.kind === 'redriven' ? message.count : 0;
}
