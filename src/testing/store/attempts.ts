import assert from 'node:assert/strict';
import { hasParts } from '../suite.js';
import {
  acquired,
  assertIsTime,
  KEEP_MS,
  LATER_MS,
  newDelivery,
  RETRY,
  type StoreTest,
} from './tested.js';

/** Defines the tests of what counts as an attempt, and when a delivery is dead. */
export function defineAttempts(test: StoreTest): void {
  test('grants a failed delivery at once to the next claim, with its completed steps', async (tested) => {
    const { store, delivery, acquire } = tested;
    const { fence } = await acquire();
    assert.equal(
      await store.completeStep(delivery.key, fence, 'mail', { sent: [1, 'x', null] }),
      true,
    );
    assert.equal(await store.completeStep(delivery.key, fence, '__proto__', 'kept'), true);
    assert.equal(await store.fail(delivery.key, fence, RETRY), 'retry');
    const next = await acquire();
    assert.equal(next.attempt, 2);
    assert.ok(next.fence > fence);
    assert.deepEqual(Object.entries(next.steps).sort(), [
      ['__proto__', 'kept'],
      ['mail', { sent: [1, 'x', null] }],
    ]);
  });

  test('grants a released delivery to the next claim, and counts no attempt', async (tested) => {
    const { store, delivery, acquire } = tested;
    const { fence } = await acquire();
    assert.equal(await store.release(delivery.key, fence), true);
    const next = await acquire();
    assert.equal(next.attempt, 1);
    assert.ok(next.fence > fence);
    assertIsTime(next.fence);
  });

  test('marks a delivery dead if its failure is permanent', async (tested) => {
    const { store, delivery, claim, acquire } = tested;
    const { fence } = await acquire();
    assert.equal(await store.fail(delivery.key, fence, { ...RETRY, permanent: true }), 'dead');
    assert.deepEqual(await claim(), { state: 'dead' });
  });

  test('marks a delivery dead at the third crash of its process', async (tested) => {
    const { store, delivery, claim, acquire, takeOver } = tested;
    await acquire({ leaseMs: 1 });
    for (const attempt of [2, 3]) {
      const next = acquired(await takeOver());
      assert.equal(next.attempt, attempt);
      await store.renew(delivery.key, next.fence, 1);
    }
    assert.deepEqual(await takeOver({ leaseMs: 1 }), { state: 'dead' });
    assert.deepEqual(await claim(), { state: 'dead' });
  });

  test('counts an expired claim that was never renewed only if it was the first', async (tested) => {
    const { store, delivery, acquire, takeOver } = tested;
    await acquire({ leaseMs: 1 });
    for (let lost = 0; lost < 6; lost++) {
      assert.equal(acquired(await takeOver({ leaseMs: 1 })).attempt, 2);
    }
    const begun = acquired(await takeOver());
    await store.renew(delivery.key, begun.fence, 1);
    assert.equal(acquired(await takeOver()).attempt, 3);
  });

  test('answers a failure that is reported twice in the same way, and counts it once', async (tested) => {
    const { store, delivery, claim, acquire } = tested;
    const { fence } = await acquire();
    assert.equal(await store.fail(delivery.key, fence, RETRY), 'retry');
    assert.equal(await store.fail(delivery.key, fence, { ...RETRY, error: 'again' }), 'retry');
    const [failing] = await store.list({ state: 'failing' });
    hasParts(failing, { attempts: 1, error: 'it threw' });
    const next = await acquire({ leaseMs: -1 });
    assert.equal(await store.fail(delivery.key, fence, RETRY), 'lost');
    // One of the two attempts has failed. The other is the first crash.
    const last = await acquire({ maxCrashes: 2 });
    assert.ok(last.fence > next.fence);
    const terms = { ...RETRY, permanent: true };
    assert.equal(await store.fail(delivery.key, last.fence, terms), 'dead');
    assert.equal(await store.fail(delivery.key, last.fence, terms), 'dead');
    const twice = newDelivery();
    const told = await acquire({}, twice);
    for (const _ of [1, 2]) await store.fail(twice.key, told.fence, RETRY);
    await acquire({ leaseMs: -1 }, twice);
    assert.deepEqual(await claim({ maxCrashes: 1 }, twice), { state: 'dead' });
  });

  test('accepts a lease that is released twice, and counts it once', async (tested) => {
    const { store, delivery, acquire } = tested;
    const { fence } = await acquire();
    await store.fail(delivery.key, fence, RETRY);
    const next = await acquire();
    assert.equal(await store.release(delivery.key, next.fence), true);
    assert.equal(await store.release(delivery.key, next.fence), true);
    assert.equal(await store.release(delivery.key, fence), false);
    hasParts(await acquire(), { attempt: 2 });
  });

  test('remembers a done delivery for the longest keepMs that was asked for', async (tested) => {
    const { store, claim, acquire } = tested;
    const [claimed, retried] = [newDelivery(), newDelivery()];
    const { fence } = await acquire({ keepMs: KEEP_MS }, claimed);
    await store.complete(claimed.key, fence, 0);
    const first = await acquire({ keepMs: 0 }, retried);
    await store.fail(retried.key, first.fence, RETRY);
    const second = await acquire({ keepMs: KEEP_MS }, retried);
    await store.fail(retried.key, second.fence, RETRY);
    const third = await acquire({ keepMs: 0 }, retried);
    await store.complete(retried.key, third.fence, 0);
    assert.equal(await store.purge(10), 0);
    assert.deepEqual(await claim({}, claimed), { state: 'done' });
    assert.deepEqual(await claim({}, retried), { state: 'done' });
  });

  test('counts failures apart from crashes', async ({ store, delivery, acquire, takeOver }) => {
    for (let failure = 0; failure < 5; failure++) {
      await store.fail(delivery.key, (await acquire()).fence, RETRY);
    }
    await acquire({ leaseMs: 1 });
    assert.equal((await takeOver()).state, 'acquired');
  });

  test('keeps apart what is written at once for forty deliveries', async (tested) => {
    const { store, claim, acquire } = tested;
    const subjects = Array.from({ length: 40 }, newDelivery);
    const ends = ['done', 'dead', 'failed', 'released'] as const;
    await Promise.all(
      subjects.map(async (subject, index) => {
        const { key } = subject;
        const { fence } = await acquire({ leaseMs: LATER_MS }, subject);
        const steps = ['mail', 'ship'].map((step) => store.completeStep(key, fence, step, index));
        assert.deepEqual(await Promise.all(steps), [true, true]);
        const error = `fault ${index}`;
        const end = ends[index % 4];
        if (end === 'done') assert.equal(await store.complete(key, fence, KEEP_MS), true);
        else if (end === 'released') assert.equal(await store.release(key, fence), true);
        else await store.fail(key, fence, { permanent: end === 'dead', error });
        assert.equal(await store.renew(key, fence, LATER_MS), false);
      }),
    );
    const dead = await store.list({ state: 'dead', limit: 99 });
    assert.deepEqual(
      new Map(dead.map(({ key, error }) => [key, error])),
      new Map(
        subjects.flatMap(({ key }, index) =>
          ends[index % 4] === 'dead' ? [[key, `fault ${index}`] as const] : [],
        ),
      ),
    );
    for (const [index, subject] of subjects.entries()) {
      const end = ends[index % 4];
      const result = await claim({}, subject);
      if (end === 'done' || end === 'dead') assert.deepEqual(result, { state: end });
      else
        hasParts(acquired(result), {
          attempt: end === 'failed' ? 2 : 1,
          steps: { mail: index, ship: index },
        });
    }
  });

  test('never marks a delivery dead if maxCrashes is Infinity', async (tested) => {
    const { store, delivery, acquire, takeOver } = tested;
    await acquire({ leaseMs: 1 });
    for (let crash = 1; crash <= 8; crash++) {
      const next = acquired(await takeOver({ maxCrashes: Infinity }));
      assert.equal(next.attempt, crash + 1);
      await store.renew(delivery.key, next.fence, 1);
    }
  });
}
