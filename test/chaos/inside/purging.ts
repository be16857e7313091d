import { randomUUID } from 'node:crypto';
import type { IdempotencyStore } from 'storefront-webhooks';
import { deliveryOf } from './deliveries.js';
import { open } from './open.js';
import { median, type Slices } from './rates.js';
import { fill } from './sizes.js';

/** The number of simultaneous deliveries in a busy shop. */
const IN_FLIGHT = 8;
/** The number of deliveries that the receiver purges with one call. */
const LIMIT = 500;
const TERMS = { leaseMs: 60_000, keepMs: 30 * 24 * 60 * 60 * 1000, maxCrashes: 5 };

export interface Purged {
  readonly idleP99: number;
  readonly purgingP99: number;
  readonly ratio: number;
  readonly purged: number;
}

/** The duration of claims, at the slowest hundredth, with and without the purge of a large backlog. */
export async function measurePurging({
  slices,
  sliceMs,
  backlog,
}: Slices & { backlog: number }): Promise<Purged> {
  const { store } = await open();
  await slice(store, sliceMs / 2);
  const idle: number[] = [];
  const purging: number[] = [];
  let purged = 0;
  for (let round = 0; round < slices; round++) {
    await fill(store, backlog / slices, 0);
    // Give the database time to finish its writes.
    await new Promise((resolve) => setTimeout(resolve, 200));
    idle.push(await slice(store, sliceMs));
    let isOver = false;
    const purge = (async () => {
      // Purge repeatedly, as the receiver does while there is a backlog.
      while (!isOver) {
        const count = await store.purge(LIMIT);
        purged += count;
        if (count === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    purging.push(await slice(store, sliceMs));
    isOver = true;
    await purge;
    while ((await store.purge(LIMIT)) > 0);
  }
  const ratio = median(purging) / median(idle);
  return { idleP99: median(idle), purgingP99: median(purging), ratio, purged };
}

/** The 99th percentile of a claim, in milliseconds. */
async function slice(store: IdempotencyStore, ms: number): Promise<number> {
  const endAt = performance.now() + ms;
  const took: number[] = [];
  const lane = async () => {
    while (performance.now() < endAt) {
      const key = randomUUID().replaceAll('-', '').repeat(2);
      const startedAt = performance.now();
      const claim = await store.claim(deliveryOf(key), { ...TERMS, owner: randomUUID() });
      took.push(performance.now() - startedAt);
      if (claim.state === 'acquired') await store.complete(key, claim.fence, TERMS.keepMs);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.POSITIVE_INFINITY;
}
