import type { ChildProcess } from 'node:child_process';
import { hasEnded, kill } from './children.js';
import { Deadline } from './deadline.js';
import { drain } from './drain.js';
import { type Front, startFront } from './front.js';
import { Load } from './load.js';
import { Random } from './random.js';
import { portOf, startReceiver } from './receivers.js';
import { Sender } from './sender.js';
import { nodeOf, type TestedStore } from './stores.js';

/** The versions of Node in turn. Node 20 has no SQLite, and Node 22 has it with a warning. */
const PROCESSES = 3;
const NODES = [nodeOf(20), nodeOf(22), nodeOf(24)];
/** Long enough that a process is always busy when it has to stop. */
const SLOW_MS = 700;
/** A worker takes a few jobs at a time, and has to keep up with the load. */
const SLOW_JOB_MS = 50;
/** A process that has not ended by then is killed. */
const GONE_MS = 30_000;
const SETTLE_MS = 30_000;
export const ROLLING_PREFIX = 'roll-';

export interface RollingRun {
  readonly load: Load;
  readonly sender: Sender;
  readonly front: Pick<Front, 'resets' | 'refused'>;
  /** From SIGTERM to the end of the process; `Infinity` if it had to be killed. */
  readonly goneMs: readonly number[];
}

/** Delivers through a balancer while each receiver behind it is restarted, one after another. */
export async function runRolling<Judged>(
  store: TestedStore,
  seed: number,
  { rounds, limitMs }: { rounds: number; limitMs: number },
  judge: (run: RollingRun) => Promise<Judged>,
): Promise<Judged> {
  const random = new Random(seed);
  const slowMs = store.handsOff ? SLOW_JOB_MS : SLOW_MS;
  const front = await startFront();
  const sender = new Sender(() => [front]);
  const children: ChildProcess[] = [];
  const goneMs: number[] = [];
  const deadline = new Deadline(`The rolling restarts on ${store.name}`, limitMs);
  const load = new Load(sender, {
    prefix: ROLLING_PREFIX,
    seed,
    deadline,
    // A copy that waits for the first one at a closing process gets a harmless 503.
    isSentOnce: true,
    settleMs: SETTLE_MS,
  });

  const start = async (place: number) => {
    const node = store.name === 'sqlite' ? store.node : NODES[place];
    const child = startReceiver(store, { CHAOS_SLOW_MS: `${slowMs}` }, node);
    children[place] = child;
    front.places[place] = await deadline.limit(portOf(child));
  };
  const restartAll = async () => {
    for (let restart = 0; restart < rounds * PROCESSES; restart++) {
      if (load.isGivenUp) return;
      await new Promise((resolve) => setTimeout(resolve, random.between(500, 1_500)));
      const child = children[restart % PROCESSES];
      if (child) goneMs.push(await terminate(child));
      await start(restart % PROCESSES);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  };
  try {
    await Promise.all(Array.from({ length: PROCESSES }, (_, place) => start(place)));
    await load.runBeside(restartAll);
    if (store.handsOff) await drain(store, () => children[0], load.ids, ROLLING_PREFIX);
    return await judge({ load, sender, front, goneMs });
  } finally {
    load.giveUp();
    await Promise.all(children.filter((child) => !hasEnded(child)).map(terminate));
    sender.close();
    await front.close();
  }
}

async function terminate(child: ChildProcess): Promise<number> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stoppedAt = performance.now();
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    kill(child);
  }, GONE_MS);
  if (!hasEnded(child)) {
    child.kill('SIGTERM');
    await ended;
  }
  clearTimeout(late);
  return isLate ? Number.POSITIVE_INFINITY : performance.now() - stoppedAt;
}
