import { Claimers } from './claimers.js';
import { keyOf } from './key-of.js';
import type { Step } from './messages.js';
import type { TestedStore } from './stores.js';

const AT_ONCE = 50;
/** Nothing is done under it. */
const LEASE_MS = 1;

/** Which of these deliveries the store does not hold to be done: whoever claims them is not told so. */
export async function unfinished(store: TestedStore, ids: Iterable<string>): Promise<string[]> {
  const claimers = new Claimers();
  const left = [...ids];
  const found: string[] = [];
  try {
    await claimers.start(store, 1);
    while (left.length > 0) {
      const some = left.splice(0, AT_ONCE);
      const threads = some.map((id): Step[] => [
        { verb: 'claim', key: keyOf(id), leaseMs: LEASE_MS },
      ]);
      const calls = await claimers.ask(0, threads);
      found.push(...some.filter((_, index) => calls[index]?.result !== 'done'));
    }
  } finally {
    claimers.close();
  }
  return found;
}
