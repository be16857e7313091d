import { Deadline } from './deadline.js';
import { type LoadKind, pausing } from './fault-run.js';
import type { Fault } from './faults.js';
import { Load } from './load.js';
import type { Random } from './random.js';
import { Receivers } from './receivers.js';
import { Sender } from './sender.js';
import { startStore, type TestedStore } from './stores.js';
import { WallClock } from './wall-clock.js';

const PROCESSES = 4;
/** Longer than the lease of a delivery in a transaction. */
const SETTLE_MS = 120_000;
const HOUR_MS = 60 * 60 * 1000;

/** One jump of the clock of the machine, on which the receivers and the store's server run. */
export interface Jump {
  /** Negative for a jump back. */
  readonly byMs: number;
  readonly calmMs: number;
}

/**
 * Plans jumps forward by up to six hours, as after a virtual machine slept, and back by up to an hour, as when a
 * wrong clock is set.
 */
export function planJumps(random: Random, jumps: number): Jump[] {
  return Array.from({ length: jumps }, (_, index) => ({
    byMs: index % 2 === 0 ? random.between(10_000, 6 * HOUR_MS) : -random.between(100, HOUR_MS),
    calmMs: random.between(300, 2_000),
  }));
}

export interface JumpRun {
  /** The store on a machine of its own, which still exists. */
  readonly store: TestedStore;
  readonly load: Load;
  readonly receivers: Receivers;
  readonly happened: number;
}

/**
 * Delivers while the clock of the machine jumps, and processes are killed and stopped.
 *
 * @param judge - Counts the results while the database still exists.
 */
export async function runJumps<Judged>(
  { name, programs }: TestedStore,
  seed: number,
  { plan, faults, limitMs }: { plan: readonly Jump[]; faults: readonly Fault[]; limitMs: number },
  judge: (run: JumpRun) => Promise<Judged>,
  { prefix, handlers }: LoadKind,
): Promise<Judged> {
  const clock = new WallClock();
  const store = await startStore(name, programs, clock.environment);
  const receivers = new Receivers(store, faults, pausing(seed, handlers));
  const sender = new Sender(() => receivers.targets);
  const load = new Load(sender, {
    prefix,
    seed,
    deadline: new Deadline(`The run with jumps of the clock on ${name}`, limitMs),
    settleMs: SETTLE_MS,
  });
  let happened = 0;

  const jump = async () => {
    for (const { byMs, calmMs } of plan) {
      if (load.isGivenUp) return;
      await new Promise((resolve) => setTimeout(resolve, calmMs));
      clock.jump(byMs);
      happened += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  };
  try {
    await receivers.start(PROCESSES);
    await load.runBeside(jump);
    await receivers.close();
    return await judge({ store, load, receivers, happened });
  } finally {
    load.giveUp();
    await receivers.close();
    sender.close();
    await store.remove();
    clock.remove();
  }
}
