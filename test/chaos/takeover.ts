import type { ChildProcess } from 'node:child_process';
import { kill, nextMessage } from './children.js';
import { Claimers } from './claimers.js';
import { Deadline } from './deadline.js';
import { keyOf } from './key-of.js';
import type { FromReceiver } from './messages.js';
import { monotonicMs } from './monotonic.js';
import { Random } from './random.js';
import { portOf, startReceiver } from './receivers.js';
import { Sender } from './sender.js';
import type { TestedStore } from './stores.js';

const LIMIT_MS = 120_000;
const RETRY_MS = 100;
/** How long the slow handler runs: longer than a takeover takes. */
const SLOW_MS = 60_000;
const LATE_MS = 300;

/** From the death of a process in its handler to the claim of the next one; one figure per repeat. */
export async function runTakeovers(
  store: TestedStore,
  seed: number,
  repeats: number,
): Promise<number[]> {
  const random = new Random(seed);
  const deadline = new Deadline(`The takeovers on ${store.name}`, LIMIT_MS);
  const sender = new Sender(() => []);
  const heir = startReceiver(store, { CHAOS_TELLS: '1' });
  // No more at once than a machine has, for the sake of the store.
  const victims = Array.from({ length: repeats }, () =>
    startReceiver(store, { CHAOS_TELLS: '1', CHAOS_SLOW_MS: `${SLOW_MS}` }),
  );
  try {
    const heirPort = await deadline.limit(portOf(heir));
    const takeOver = async (victim: ChildProcess, index: number) => {
      const id = `takeover-${seed}-${index}`;
      const port = await portOf(victim);
      const running = heard(victim, 'running', id);
      void sender.send(id, { port });
      await running;
      // Wait for a random time, so that the process may have renewed its lease once or twice.
      await new Promise((resolve) => setTimeout(resolve, random.between(0, 7_000)));
      const granted = heard(heir, 'granted', id);
      const killedAt = monotonicMs();
      kill(victim);
      let isTaken = false;
      const retrying = (async () => {
        while (!isTaken) {
          deadline.check();
          void sender.send(id, { port: heirPort });
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        }
      })();
      const at = await granted;
      isTaken = true;
      await retrying;
      return at - killedAt;
    };
    return await deadline.limit(Promise.all(victims.map(takeOver)));
  } finally {
    for (const child of [heir, ...victims]) kill(child);
    sender.close();
  }
}

/**
 * From the answer to a claim, which arrives while its process is closing, to the claim of the next one. The process
 * closes the receiver without its server: with it, the delivery would be handled instead of released.
 */
export async function runReleases(store: TestedStore, repeats: number): Promise<number[]> {
  const deadline = new Deadline(`The releases on ${store.name}`, LIMIT_MS);
  const sender = new Sender(() => []);
  const claimers = new Claimers();
  const took: number[] = [];
  try {
    await claimers.start(store, 1);
    for (let repeat = 0; repeat < repeats; repeat++) {
      const closing = startReceiver(store, {
        CHAOS_TELLS: '1',
        CHAOS_LATE_MS: `${LATE_MS}`,
        CHAOS_CLOSE: 'receiver',
      });
      const id = `release-${repeat}`;
      const port = await deadline.limit(portOf(closing));
      const granted = heard(closing, 'granted', id);
      const answered = heard(closing, 'answered', id);
      void sender.send(id, { port });
      await deadline.limit(granted);
      closing.kill('SIGTERM');
      const key = keyOf(id);
      const taken = claimers.ask(0, [[{ verb: 'take', key, leaseMs: 60_000, everyMs: 2 }]]);
      const [[call], at] = await deadline.limit(Promise.all([taken, answered]));
      took.push(call?.result === 'acquired' ? call.returned - at : Number.POSITIVE_INFINITY);
    }
  } finally {
    claimers.close();
    sender.close();
  }
  return took;
}

async function heard(child: ChildProcess, kind: 'granted' | 'answered' | 'running', id: string) {
  const message = await nextMessage<FromReceiver>(
    child,
    (one) => one.kind === kind && 'id' in one && one.id === id,
  );
  return 'at' in message ? message.at : 0;
}
