import type { Random } from './random.js';

/** The points in the path of a delivery at which a process is hit. */
export const POINTS = [
  'before-claim',
  'after-claim',
  'before-plain',
  'after-plain',
  'before-ledger',
  'in-transaction',
  'after-commit',
  'before-finished',
  'after-finished',
  'after-record',
  'before-complete',
  'after-complete',
] as const;

/** Points at which a delivery is handed to a queue, before a worker continues with the points above. */
export const HAND_OFF_POINTS = ['before-enqueue', 'after-enqueue'] as const;

/** Points in the path of a call for goods. */
export const GOODS_POINTS = [
  'before-claim',
  'after-claim',
  'before-goods',
  'after-goods',
  'after-record',
] as const;

/** Points in the path of a delivery whose handler runs in a transaction of the store. */
export const TRANSACTION_POINTS = [
  'before-claim',
  'after-claim',
  'before-sale',
  'in-transaction',
  'after-transaction',
] as const;

export type Point =
  | (typeof POINTS)[number]
  | (typeof HAND_OFF_POINTS)[number]
  | (typeof GOODS_POINTS)[number]
  | (typeof TRANSACTION_POINTS)[number];

/** A process hits itself at the nth passing of a point, or is hit from outside after a time. */
export type Fault = {
  readonly signal: 'SIGKILL' | 'SIGSTOP';
  /** How long it stays stopped: longer than its leases. */
  readonly frozenMs: number;
} & (
  | { readonly point: Point; readonly nth: number }
  | { readonly point: 'outside'; readonly afterMs: number }
);

/** The index, within every ten faults, of the one that stops its process instead of killing it. */
const STOP_AT = 2;

/**
 * @param options.points - The points at which processes are hit.
 * @param options.stopsInTransaction - Whether a process may be stopped in a transaction. With SQLite, it
 *   would hold the lock of the whole file, and block everything.
 */
export function planFaults(
  random: Random,
  { faults, deliveries }: { faults: number; deliveries: number },
  {
    stopsInTransaction,
    points,
  }: { readonly stopsInTransaction: boolean; readonly points: readonly Point[] },
): Fault[] {
  // The most passings of a point before a process is hit: a little more than its share of the deliveries.
  const most = Math.max(2, Math.round((1.2 * deliveries) / faults));
  let turn = 0;
  return Array.from({ length: faults }, (_, index): Fault => {
    const frozenMs = random.between(11_000, 13_000);
    const signal = index % 10 === STOP_AT ? 'SIGSTOP' : 'SIGKILL';
    if (random.chance(1 / 3))
      return { signal, frozenMs, point: 'outside', afterMs: random.between(0, 600) };
    // Take the points in turn, so that each gets equally many faults.
    const point = points[turn++ % points.length] ?? 'before-claim';
    const nth = random.between(1, most);
    const locks = point === 'in-transaction' && !stopsInTransaction;
    return { signal: locks ? 'SIGKILL' : signal, frozenMs, point, nth };
  });
}
