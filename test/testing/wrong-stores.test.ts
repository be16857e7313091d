import type { Claim, IdempotencyStore } from 'storefront-webhooks';
import { memoryStore } from 'storefront-webhooks';
import { type StoreSuite, testStore } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { forward } from '../../src/stores/contract.js';

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

describe('testStore', () => {
  test('passes a correct store that is wrapped', async () => {
    const open = () => forward(memoryStore(), {});
    expect(await failedBy({ open }, /steps|fence|grants a (new|released)|stalled/)).toEqual([]);
  });

  test('fails a store that forgets completed steps if a lease expires', async () => {
    expect(await failedBy({ open: () => forgetful('expiry') }, /completed steps/)).toEqual([
      'keeps the completed steps of a delivery whose lease has expired',
    ]);
  });

  test('fails a store that forgets completed steps if a stalled delivery is redriven', async () => {
    expect(
      await failedBy({ open: () => forgetful('redrive') }, /completed steps|redrives/),
    ).toEqual([
      'redrives a stalled delivery with its completed steps, and rejects late writes of its last holder',
    ]);
  });
});
