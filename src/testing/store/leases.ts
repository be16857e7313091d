import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually, hasParts } from '../suite.js';
import { now, sleep } from '../timers.js';
import {
  acquired,
  assertIsTime,
  KEEP_MS,
  LATER_MS,
  LEASE_MS,
  newDelivery,
  RETRY,
  type StoreTest,
} from './tested.js';

/** Defines the tests of which claim gets the lease of a delivery, and what ends the lease. */
export function defineLeases(test: StoreTest): void {
  test('has a short description', async ({ store }) => {
    assert.match(store.description ?? '', /^[\w ().]{2,40}$/);
  });

  const WRONG: readonly (readonly [what: string, key: string])[] = [
    ['in upper case', 'A'.repeat(64)],
    ['too short', 'a'.repeat(63)],
    ['too long', `${'a'.repeat(64)}\n`],
    ['of other letters', 'g'.repeat(64)],
    ['not text', JSON.parse('null')],
  ];
  for (const [what, key] of WRONG) {
    test(`rejects, in every verb, a key that is ${what}`, async ({ store, delivery, claim }) => {
      const calls = [
        claim({}, { ...delivery, key }),
        store.renew(key, 1, LEASE_MS),
        store.completeStep(key, 1, 'a', null),
        store.complete(key, 1, KEEP_MS),
        store.fail(key, 1, RETRY),
        store.release(key, 1),
        store.redrive(key),
        store.list({ state: 'dead', after: key ?? 'a' }),
      ];
      for (const refused of await Promise.allSettled(calls)) {
        hasParts(refused, { reason: { code: 'key_invalid' } });
      }
    });
  }

  for (const given of [Number.NaN, JSON.parse('null'), JSON.parse('"60000"')]) {
    test(`rejects ${typeof given} ${given} as a number of milliseconds`, async (tested) => {
      const { store, delivery, claim, acquire } = tested;
      const { fence } = await acquire({ leaseMs: LATER_MS });
      const calls = [
        claim({ leaseMs: given }),
        claim({ keepMs: given }),
        claim({ maxCrashes: given }),
        store.renew(delivery.key, fence, given),
        store.complete(delivery.key, fence, given),
        store.complete(delivery.key, fence, -1),
      ];
      for (const refused of await Promise.allSettled(calls)) {
        hasParts(refused, { reason: { code: 'option_invalid' } });
      }
      assert.equal((await claim()).state, 'busy');
    });
  }

  test('grants a new key to its first claim, under a fence that is its time', async (tested) => {
    const { acquire } = tested;
    const claim = await acquire();
    hasParts(claim, { attempt: 1, steps: {} });
    assertIsTime(claim.fence);
  });

  test('grants one of forty simultaneous claims', async ({ claim }) => {
    const claims = await Promise.all(Array.from({ length: 40 }, () => claim({ leaseMs: 60_000 })));
    const states = claims.map(({ state }) => state);
    assert.equal(states.filter((state) => state === 'acquired').length, 1);
    assert.equal(states.filter((state) => state === 'busy').length, 39);
  });

  test('grants one of forty simultaneous claims of an expired lease', async (tested) => {
    const { claim, acquire } = tested;
    await acquire({ leaseMs: 1 });
    await eventually('one claim has acquired the lease', async () => {
      const claims = await Promise.all(
        Array.from({ length: 40 }, () => claim({ leaseMs: 60_000 })),
      );
      const winners = claims.filter(({ state }) => state === 'acquired');
      assert.ok(winners.length <= 1);
      return winners.length === 1;
    });
  });

  test('grants one of forty simultaneous claims of a failed delivery', async (tested) => {
    const { store, delivery, claim, acquire } = tested;
    const { fence } = await acquire();
    await store.fail(delivery.key, fence, RETRY);
    const claims = await Promise.all(Array.from({ length: 40 }, () => claim({ leaseMs: 60_000 })));
    assert.equal(claims.filter(({ state }) => state === 'acquired').length, 1);
  });

  test('returns the rest of the lease to other claims', async ({ claim, acquire }) => {
    await acquire({ leaseMs: 5_000 });
    const other = await claim();
    hasParts(other, { state: 'busy' });
    const wait = other.state === 'busy' ? other.retryAfterMs : 0;
    assert.ok(wait > 3_000);
    assert.ok(wait <= 5_000);
  });

  test('grants the same lease to the same owner again', async ({ acquire }) => {
    const owner = randomUUID();
    const first = await acquire({ owner, leaseMs: LATER_MS });
    const second = await acquire({ owner, leaseMs: LATER_MS });
    hasParts(second, { fence: first.fence, attempt: 1 });
  });

  test('grants two keys independently', async ({ acquire }) => {
    await acquire();
    hasParts(await acquire({}, newDelivery()), { attempt: 1 });
  });

  test('grants an expired lease to the next claim, under a larger fence', async (tested) => {
    const { acquire, takeOver } = tested;
    const first = await acquire();
    const second = acquired(await takeOver());
    assert.equal(second.attempt, 2);
    assert.ok(second.fence > first.fence);
    assert.equal(Number.isSafeInteger(second.fence), true);
  });

  test('keeps the completed steps of a delivery whose lease has expired', async (tested) => {
    const { store, delivery, acquire } = tested;
    const { fence } = await acquire({ leaseMs: LATER_MS });
    for (const step of ['mail', 'ship']) {
      assert.equal(await store.completeStep(delivery.key, fence, step, { sent: step }), true);
    }
    assert.equal(await store.renew(delivery.key, fence, -1), true);
    const next = await acquire();
    assert.equal(next.attempt, 2);
    assert.deepEqual(Object.entries(next.steps).sort(), [
      ['mail', { sent: 'mail' }],
      ['ship', { sent: 'ship' }],
    ]);
  });

  test('does not grant a lease that is renewed', async ({ store, delivery, claim, acquire }) => {
    const { fence } = await acquire();
    const end = now() + 4 * LEASE_MS;
    while (now() < end) {
      assert.equal(await store.renew(delivery.key, fence, 10_000), true);
      assert.equal((await claim()).state, 'busy');
    }
  });

  test('rejects every verb under the fence of a lease that was taken over', async (tested) => {
    const { store, delivery, claim, acquire, takeOver } = tested;
    const { fence } = await acquire({ leaseMs: 1 });
    const next = acquired(await takeOver({ leaseMs: 60_000 }));
    assert.equal(await store.renew(delivery.key, fence, LEASE_MS), false);
    assert.equal(await store.completeStep(delivery.key, fence, 'a', null), false);
    assert.equal(await store.complete(delivery.key, fence, KEEP_MS), false);
    assert.equal(await store.fail(delivery.key, fence, RETRY), 'lost');
    assert.equal(await store.release(delivery.key, fence), false);
    // The new holder is not affected.
    assert.equal(await store.renew(delivery.key, next.fence, LATER_MS), true);
    assert.equal((await claim()).state, 'busy');
  });

  test('rejects every verb for an unknown key', async ({ store }) => {
    const { key } = newDelivery();
    assert.equal(await store.renew(key, 1, LEASE_MS), false);
    assert.equal(await store.completeStep(key, 1, 'a', null), false);
    assert.equal(await store.complete(key, 1, KEEP_MS), false);
    assert.equal(await store.fail(key, 1, RETRY), 'lost');
    assert.equal(await store.release(key, 1), false);
    assert.equal(await store.redrive(key), false);
  });

  test('rejects every verb except complete for a done delivery', async (tested) => {
    const { store, delivery, acquire } = tested;
    const { fence } = await acquire();
    assert.equal(await store.complete(delivery.key, fence, KEEP_MS), true);
    assert.equal(await store.complete(delivery.key, fence, KEEP_MS), true);
    assert.equal(await store.renew(delivery.key, fence, LEASE_MS), false);
    assert.equal(await store.completeStep(delivery.key, fence, 'a', null), false);
    assert.equal(await store.fail(delivery.key, fence, RETRY), 'lost');
    assert.equal(await store.release(delivery.key, fence), false);
  });

  test('remembers a done delivery, even after its lease would have expired', async (tested) => {
    const { store, delivery, claim, acquire } = tested;
    const { fence } = await acquire({ leaseMs: 1 });
    await store.complete(delivery.key, fence, KEEP_MS);
    assert.deepEqual(await claim(), { state: 'done' });
    await sleep(5);
    assert.deepEqual(await claim(), { state: 'done' });
  });

  test('accepts a late result if no other claim has taken over', async (tested) => {
    const { store, delivery, claim, acquire } = tested;
    const { fence } = await acquire({ leaseMs: 1 });
    await sleep(5);
    assert.equal(await store.complete(delivery.key, fence, KEEP_MS), true);
    assert.deepEqual(await claim(), { state: 'done' });
  });
}
