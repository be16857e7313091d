import { Deadline } from './deadline.js';
import { Receivers } from './receivers.js';
import { Sender } from './sender.js';
import type { TestedStore } from './stores.js';

const PROCESSES = 4;
const COPIES = 40;
const LIMIT_MS = 180_000;

/** Forty simultaneous copies of each delivery, at four processes without faults. */
export async function runCopies(
  store: TestedStore,
  deliveries: number,
): Promise<{ ids: string[]; bad: number }> {
  const deadline = new Deadline(`The run of copies on ${store.name}`, LIMIT_MS);
  const receivers = new Receivers(store, []);
  await receivers.start(PROCESSES);
  const sender = new Sender(() => receivers.targets);
  const ids = Array.from({ length: deliveries }, (_, index) => `copy-${index}`);
  let bad = 0;
  try {
    for (const id of ids) {
      const answers = Array.from({ length: COPIES }, () => sender.send(id));
      for (const { status } of await deadline.limit(Promise.all(answers))) {
        if (status !== 200) bad += 1;
      }
    }
  } finally {
    await receivers.close();
    sender.close();
  }
  return { ids, bad };
}
