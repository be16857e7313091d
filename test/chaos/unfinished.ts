import { Claimers } from './claimers.js';
import { keyOf } from './key-of.js';
import type { Step } from './messages.js';
import type { TestedStore } from './stores.js';

const AT_ONCE = 50;
/** No work is done under these leases. */
const LEASE_MS = 1;

/** Returns the deliveries that are not done in the store: a claim of them is not answered with done. */
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
