import type { Claim, IdempotencyStore } from 'storefront-webhooks';
import { memoryStore } from 'storefront-webhooks';
import { type StoreSuite, testStore } from 'storefront-webhooks/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { ageClock } from '../stores/suite.js';

afterEach(() => vi.restoreAllMocks());

/** The titles of the tests that the wrong stores concern. */
const TOUCHED =
  /completed steps|redrives|sender has given up|grants a (new|released)|expired as new/;

/** Runs the tests of `testStore` whose titles match, and returns the titles of those that fail. */
async function failedBy(suite: StoreSuite, matching: RegExp): Promise<string[]> {
  const tests: (readonly [title: string, run: () => Promise<void>])[] = [];
  testStore('wrong', suite, {
    describe: (_name, define) => define(),
    test: Object.assign((title: string, run: () => Promise<void>) => tests.push([title, run]), {
      skip() {},
    }),
  });
  const failed: string[] = [];
  for (const [title, run] of tests.filter(([title]) => matching.test(title))) {
    await run().catch(() => failed.push(title));
  }
  return failed;
}

/** A store that forgets the completed steps if a claim takes over an expired lease, or after a redrive. */
function forgetful(forgetsAfter: 'expiry' | 'redrive'): IdempotencyStore {
  const kept = memoryStore();
  const ended = new Map<string, 'expiry' | 'redrive' | 'report'>();
  const endedBy = <Answer>(key: string, answer: Answer): Answer => {
    ended.set(key, 'report');
    return answer;
  };
  return forward(kept, {
    claim: async (delivery, terms): Promise<Claim> => {
      const claim = await kept.claim(delivery, terms);
      if (claim.state !== 'acquired') return claim;
      const end = ended.get(delivery.key);
      ended.set(delivery.key, 'expiry');
      return end === forgetsAfter ? { ...claim, steps: {} } : claim;
    },
    fail: async (key, ...rest) => endedBy(key, await kept.fail(key, ...rest)),
    release: async (key, fence) => endedBy(key, await kept.release(key, fence)),
    redrive: async (key) => {
      // Stalled deliveries only: the suite tests dead ones apart.
      if (ended.get(key) === 'expiry') ended.set(key, 'redrive');
      return kept.redrive(key);
    },
  });
}

/** A store whose purge deletes the failed deliveries in a state if their time is over. */
function purging(state: 'failing' | 'stalled'): IdempotencyStore {
  const kept = memoryStore();
  return forward(kept, {
    purge: async (limit) => {
      for (const { key, error, ...delivery } of await kept.list({ state })) {
        if (error === undefined) continue;
        const terms = { owner: 'purge', leaseMs: 60_000, keepMs: 0, maxCrashes: 9 };
        const receivedAt = Number(delivery.receivedAt);
        const claim = await kept.claim({ ...delivery, key, receivedAt }, terms);
        if (claim.state === 'acquired') await kept.complete(key, claim.fence, 0);
      }
      // The number is that of a correct store.
      await kept.purge(limit);
      return 0;
    },
  });
}

/** A store that forgets expired deliveries by itself, and keeps those without an expiry for `unlimitedMs`. */
function expiring(unlimitedMs: number): IdempotencyStore {
  const kept = memoryStore();
  return forward(kept, {
    // Only the completion decides how long a delivery is kept.
    claim: (delivery, terms) => kept.claim(delivery, { ...terms, keepMs: 0 }),
    complete: (key, fence, ms) => kept.complete(key, fence, Number.isFinite(ms) ? ms : unlimitedMs),
    purge: async () => 0,
  });
}

/** A store whose fences count the claims of a key from a number on, and begin anew if the key was forgotten. */
function counting(from: number): IdempotencyStore {
  const kept = memoryStore();
  const fences = new Map<string, number[]>();
  const done = new Set<string>();
  const real = (key: string, fence: number) => fences.get(key)?.[fence - from] ?? 0;
  return forward(kept, {
    claim: async (delivery, terms): Promise<Claim> => {
      const claim = await kept.claim(delivery, terms);
      if (claim.state !== 'acquired') return claim;
      const known = (!done.delete(delivery.key) && fences.get(delivery.key)) || [];
      if (!known.includes(claim.fence)) known.push(claim.fence);
      fences.set(delivery.key, known);
      return { ...claim, fence: from + known.indexOf(claim.fence) };
    },
    renew: (key, fence, ms) => kept.renew(key, real(key, fence), ms),
    completeStep: (key, fence, ...rest) => kept.completeStep(key, real(key, fence), ...rest),
    complete: (key, fence, ms) => {
      done.add(key);
      return kept.complete(key, real(key, fence), ms);
    },
    fail: (key, fence, terms) => kept.fail(key, real(key, fence), terms),
    release: (key, fence) => kept.release(key, real(key, fence)),
  });
}

describe('testStore', () => {
  test('passes a correct store that is wrapped', async () => {
    const open = () => forward(memoryStore(), {});
    expect(await failedBy({ open, age: ageClock }, TOUCHED)).toEqual([]);
  });

  test('fails a store that forgets completed steps if a lease expires', async () => {
    expect(await failedBy({ open: () => forgetful('expiry') }, TOUCHED)).toEqual([
      'keeps the completed steps of a delivery whose lease has expired',
    ]);
  });

  test('fails a store that forgets completed steps if a stalled delivery is redriven', async () => {
    expect(await failedBy({ open: () => forgetful('redrive') }, TOUCHED)).toEqual([
      'redrives a stalled delivery with its completed steps, and rejects late writes of its last holder',
    ]);
  });

  test.each([
    [
      'failing',
      'marks a stalled delivery dead after its sender has given up, and keeps it for the operator',
    ],
    ['stalled', 'keeps a failed delivery for the operator after its sender has given up'],
  ] as const)('fails a store that purges deliveries that are %s', async (state, title) => {
    expect(await failedBy({ open: () => purging(state), age: ageClock }, TOUCHED)).toEqual([title]);
  });

  test('fails a store that forgets what it has to keep forever', async () => {
    const title = 'purges done deliveries that have expired, up to a limit, and nothing else';
    const failed = (unlimitedMs: number) =>
      failedBy({ open: () => expiring(unlimitedMs), expires: true }, new RegExp(title));
    expect(await failed(Number.POSITIVE_INFINITY)).toEqual([]);
    expect(await failed(0)).toEqual([title]);
  });

  test('fails a store whose fences are no times', async () => {
    expect(await failedBy({ open: () => counting(1) }, TOUCHED)).toEqual([
      'grants a new key to its first claim, under a fence that is its time',
      'grants a released delivery to the next claim, and counts no attempt',
      'treats a done delivery that has expired as new, even if nothing was purged',
    ]);
  });

  test('fails a store whose fences do not grow after a delivery was forgotten', async () => {
    expect(await failedBy({ open: () => counting(Date.now()) }, TOUCHED)).toEqual([
      'treats a done delivery that has expired as new, even if nothing was purged',
    ]);
  });
});
