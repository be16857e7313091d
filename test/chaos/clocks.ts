import { createHash } from 'node:crypto';
import { Claimers } from './claimers.js';
import { Deadline } from './deadline.js';
import type { Step } from './messages.js';
import type { TestedStore } from './stores.js';

const LEASE_MS = 1_000;

export interface Clocks {
  readonly tries: number;
  /** The number of leases that another process took over before they expired. */
  readonly early: number;
  /** The largest difference between the real and the intended length of a lease. */
  readonly worstMs: number;
}

/** Processes whose clocks are two days apart take over from each other: the store's clock decides. */
export async function runClocks(store: TestedStore, repeats: number): Promise<Clocks> {
  const claimers = new Claimers();
  // The clock of the first is a day late, that of the second is right, and that of the third is a day early.
  await claimers.start(store, 3);
  const pairs = [
    [0, 2],
    [2, 0],
    [1, 2],
    [0, 1],
  ] as const;
  const deadline = new Deadline(`The clocks on ${store.name}`, 60_000);
  const lengths = Array.from({ length: repeats }, async (_, repeat) => {
    const [first, second] = pairs[repeat % pairs.length] ?? [0, 2];
    const key = createHash('sha256').update(`clock ${repeat}`).digest('hex');
    const held: Step = { verb: 'claim', key, leaseMs: LEASE_MS };
    const [holder] = await claimers.ask(first, [[held]]);
    const take: Step = { verb: 'take', key, leaseMs: LEASE_MS, everyMs: 5 };
    const [taker] = await claimers.ask(second, [[take]]);
    return {
      // The lease began between the call of the holder's claim and its answer, and ended between those of the taker's.
      atLeast: (taker?.invoked ?? 0) - (holder?.returned ?? 0),
      atMost: (taker?.returned ?? 0) - (holder?.invoked ?? 0),
    };
  });
  try {
    const measured = await deadline.limit(Promise.all(lengths));
    return {
      tries: repeats,
      early: measured.filter(({ atMost }) => atMost < LEASE_MS - 3).length,
      worstMs: Math.max(...measured.map(({ atLeast }) => Math.abs(atLeast - LEASE_MS))),
    };
  } finally {
    claimers.close();
  }
}
