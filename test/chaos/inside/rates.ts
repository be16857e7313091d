import { randomUUID } from 'node:crypto';
import type { IdempotencyStore } from 'storefront-webhooks';
import { type Bare, openBare } from './bare.js';
import { deliveryOf } from './deliveries.js';
import { open, postgresUrl } from './open.js';

const IN_FLIGHT = 64;
const BATCHED_IN_FLIGHT = 256;
const POOL = 10;
const TERMS = { leaseMs: 60_000, keepMs: 30 * 24 * 60 * 60 * 1000, maxCrashes: 5 };

export interface Slices {
  readonly slices: number;
  readonly sliceMs: number;
}

/** Two rates per second, measured in turn, and the median of their ratios. */
export interface Compared {
  readonly ours: number;
  readonly theirs: number;
  readonly ratio: number;
}

/** Claims and completions of our store, compared with two conditional writes on the bare driver. */
export async function measureRates(slices: Slices): Promise<Compared> {
  const { store } = await open({ connections: POOL });
  const bare: Bare = await openBare(POOL);
  const ours = () => claimAndComplete(store);
  const theirs = async () => {
    const key = newKey();
    const fence = await bare.insert(deliveryOf(key), randomUUID());
    if (!(await bare.complete(key, fence))) throw new Error('The bare driver changed nothing.');
  };
  return compare(slices, IN_FLIGHT, ours, theirs);
}

/** Batched claims, compared with the same claims one at a time. */
export async function measureBatching(slices: Slices): Promise<Compared> {
  const { Pool } = await import('pg');
  const { postgresStore } = await import('storefront-webhooks/postgres');
  const pool = () => new Pool({ connectionString: postgresUrl, max: POOL });
  const together = postgresStore(pool());
  const alone = pool();
  // With a separate store for each call in progress, there is nothing to batch.
  const stores = Array.from({ length: BATCHED_IN_FLIGHT }, () => postgresStore(alone));
  for (const store of stores) await claim(store);
  return compare(
    slices,
    BATCHED_IN_FLIGHT,
    () => claim(together),
    (lane) => claim(stores[lane] ?? together),
  );
}

async function claim(store: IdempotencyStore): Promise<{ key: string; fence: number }> {
  const key = newKey();
  const result = await store.claim(deliveryOf(key), { ...TERMS, owner: randomUUID() });
  if (result.state !== 'acquired') throw new Error(`A fresh key is ${result.state}.`);
  return { key, fence: result.fence };
}

async function claimAndComplete(store: IdempotencyStore): Promise<void> {
  const { key, fence } = await claim(store);
  if (!(await store.complete(key, fence, TERMS.keepMs))) throw new Error('It was not completed.');
}

function newKey(): string {
  return randomUUID().replaceAll('-', '').repeat(2);
}

type Work = (lane: number) => Promise<unknown>;

async function compare(
  { slices, sliceMs }: Slices,
  inFlight: number,
  ours: Work,
  theirs: Work,
): Promise<Compared> {
  // Warm both up before measuring.
  await rate(ours, inFlight, sliceMs / 2);
  await rate(theirs, inFlight, sliceMs / 2);
  const rates: { ours: number; theirs: number }[] = [];
  for (let slice = 0; slice < slices; slice++) {
    // Alternate which one goes first.
    const isFirst = slice % 2 === 0;
    const first = await rate(isFirst ? ours : theirs, inFlight, sliceMs);
    const second = await rate(isFirst ? theirs : ours, inFlight, sliceMs);
    rates.push(isFirst ? { ours: first, theirs: second } : { ours: second, theirs: first });
  }
  return {
    ours: median(rates.map((one) => one.ours)),
    theirs: median(rates.map((one) => one.theirs)),
    ratio: median(rates.map((one) => one.ours / one.theirs)),
  };
}

async function rate(work: Work, inFlight: number, ms: number): Promise<number> {
  const startedAt = performance.now();
  let done = 0;
  const lane = async (_: unknown, index: number) => {
    while (performance.now() - startedAt < ms) {
      await work(index);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return (1000 * done) / (performance.now() - startedAt);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] = [sorted[sorted.length % 2 ? middle : middle - 1], sorted[middle]];
  return (low + high) / 2;
}
