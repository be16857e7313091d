import { Deadline } from './deadline.js';
import { drain } from './drain.js';
import { type LoadKind, pausing } from './fault-run.js';
import { Load } from './load.js';
import type { Random } from './random.js';
import { Receivers } from './receivers.js';
import { Sender } from './sender.js';
import { type TestedStore, withBooks } from './stores.js';
import { unfinished } from './unfinished.js';

const PROCESSES = 4;
const SETTLE_MS = 60_000;
export const RESTARTS_PREFIX = 'restart-';

/** One restart of the store's server. */
export interface Restart {
  /** Whether the server gets no time to shut down: PostgreSQL's `immediate`, otherwise `fast`. */
  readonly isCrash: boolean;
  readonly downMs: number;
  readonly calmMs: number;
}

export function planRestarts(random: Random, restarts: number): Restart[] {
  return Array.from({ length: restarts }, (_, index) => ({
    isCrash: index % 2 === 1,
    downMs: random.between(100, 2_500),
    calmMs: random.between(500, 2_000),
  }));
}

export interface RestartRun {
  readonly load: Load;
  readonly receivers: Receivers;
  readonly sender: Sender;
  readonly happened: number;
  /** The store, with the separate database for the records of this run. */
  readonly store: TestedStore;
  /** The deliveries that were answered with 2xx, but are not done in the store. */
  readonly leftOpen: readonly string[];
}

/**
 * Delivers while the store's server is restarted.
 *
 * @param judge - Counts the results while the database still exists.
 */
export async function runRestarts<Judged>(
  plain: TestedStore,
  seed: number,
  { plan, limitMs }: { plan: readonly Restart[]; limitMs: number },
  judge: (run: RestartRun) => Promise<Judged>,
  { prefix = RESTARTS_PREFIX, handlers = '' }: Partial<LoadKind> = {},
): Promise<Judged> {
  const [server] = plain.servers;
  if (!server) throw new Error(`${plain.name} has no server.`);
  const store = await withBooks(plain);
  const receivers = new Receivers(store, [], pausing(seed, handlers));
  const sender = new Sender(() => receivers.targets);
  const load = new Load(sender, {
    prefix,
    seed,
    deadline: new Deadline(`The run with restarts on ${store.name}`, limitMs),
    settleMs: SETTLE_MS,
  });
  let happened = 0;

  const restart = async () => {
    for (const { isCrash, downMs, calmMs } of plan) {
      if (load.isGivenUp) return;
      await new Promise((resolve) => setTimeout(resolve, calmMs));
      await server.stop(isCrash);
      await new Promise((resolve) => setTimeout(resolve, downMs));
      await server.start();
      happened += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  };
  try {
    await receivers.start(PROCESSES);
    await load.runBeside(restart);
    if (store.handsOff) await drain(store, () => receivers.any, load.ids, prefix);
    // A receiver that closes has recorded everything that it could.
    await receivers.close();
    const leftOpen = await unfinished(store, load.answered);
    return await judge({ load, receivers, sender, happened, store, leftOpen });
  } finally {
    load.giveUp();
    await receivers.close();
    sender.close();
    await store.remove();
  }
}
