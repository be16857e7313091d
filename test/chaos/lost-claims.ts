import { Deadline } from './deadline.js';
import { Load } from './load.js';
import { Receivers } from './receivers.js';
import { Sender } from './sender.js';
import type { TestedStore } from './stores.js';

/** The number of interrupted attempts after which a delivery is dead. */
const LOST = 5;
const SETTLE_MS = 60_000;
export const CLAIMS_PREFIX = 'claim-';

/** Delivers while the answers to the first claims of each delivery are lost, although they were granted. */
export async function runLostClaims(
  store: TestedStore,
  seed: number,
  { deliveries, limitMs }: { deliveries: number; limitMs: number },
): Promise<{ load: Load; sender: Sender; receivers: Receivers }> {
  // A single process, because it counts the lost answers.
  const receivers = new Receivers(store, [], () => ({ CHAOS_LOSE_CLAIMS: `${LOST}` }));
  await receivers.start(1);
  const sender = new Sender(() => receivers.targets);
  const load = new Load(sender, {
    prefix: CLAIMS_PREFIX,
    seed,
    deadline: new Deadline(`The run with lost claims on ${store.name}`, limitMs),
    pace: (sent) => deliveries - sent,
    settleMs: SETTLE_MS,
  });
  try {
    await load.run();
    return { load, sender, receivers };
  } finally {
    load.giveUp();
    await receivers.close();
    sender.close();
  }
}
