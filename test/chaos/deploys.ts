import { Deadline } from './deadline.js';
import { drain } from './drain.js';
import { Random } from './random.js';
import { Receivers } from './receivers.js';
import { Sender } from './sender.js';
import type { TestedStore } from './stores.js';

const PROCESSES_EACH = 2;
const CONCURRENCY = 20;
const RETRY_MS = 20;
export const DEPLOYS_PREFIX = 'deploy-';

export interface DeployRun {
  readonly ids: readonly string[];
  readonly answered: number;
  /** Attempts at the other version than the previous attempt. */
  readonly moves: number;
  readonly sender: Sender;
  readonly older: Receivers;
  readonly newer: Receivers;
}

/** Delivers to two versions of the program in turn, so that each continues the other's work. */
export async function runDeploys(
  store: TestedStore,
  seed: number,
  { deliveries, limitMs }: { deliveries: number; limitMs: number },
): Promise<DeployRun> {
  const older = new Receivers(store, [], () => ({ CHAOS_VERSION: 'a' }));
  const newer = new Receivers(store, [], () => ({ CHAOS_VERSION: 'b' }));
  await Promise.all([older, newer].map((receivers) => receivers.start(PROCESSES_EACH)));
  const sender = new Sender(() => []);
  const deadline = new Deadline(`The run of two versions on ${store.name}`, limitMs);
  const random = new Random(seed);
  const ids: string[] = [];
  let answered = 0;
  let moves = 0;

  const deliver = async (id: string) => {
    const isNewerFirst = random.chance(0.5);
    for (let attempt = 0; ; attempt++) {
      deadline.check(() => `${id} is still open.`);
      const { targets } = (attempt % 2 === 0) === isNewerFirst ? newer : older;
      const { status } = await sender.send(id, random.pick(targets));
      if (status >= 200 && status < 300) break;
      moves += 1;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    answered += 1;
  };
  const lane = async () => {
    while (ids.length < deliveries) {
      const id = `${DEPLOYS_PREFIX}${ids.length}`;
      ids.push(id);
      await deliver(id);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, lane));
    // Each version takes jobs from the queue that the other one has enqueued.
    if (store.handsOff) await drain(store, () => newer.any, ids, DEPLOYS_PREFIX);
    return { ids, answered, moves, sender, older, newer };
  } finally {
    await Promise.all([older.close(), newer.close()]);
    sender.close();
  }
}
