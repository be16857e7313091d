import assert from 'node:assert/strict';
import type { Claimable } from '../../stores/store.js';
import { hasParts } from '../suite.js';
import { sleep } from '../timers.js';
import {
  assertIsTime,
  KEEP_MS,
  LONG_AGO_MS,
  newDelivery,
  RETRY,
  type StoreTest,
} from './tested.js';

/** Defines the tests of what a store keeps, for how long, and what it returns. */
export function defineKeeping(test: StoreTest): void {
  test('purges done deliveries that have expired, up to a limit, and nothing else', async (tested) => {
    const { store, claim, acquire, expires } = tested;
    const old = [newDelivery(), newDelivery(), newDelivery()];
    for (const one of old) {
      await store.complete(one.key, (await acquire({ keepMs: 0 }, one)).fence, 0);
    }
    const forEver = newDelivery();
    await store.complete(forEver.key, (await acquire({}, forEver)).fence, Infinity);
    await acquire({ leaseMs: 60_000 });

    assert.equal(await store.purge(2), expires ? 0 : 2);
    assert.equal(await store.purge(10), expires ? 0 : 1);
    assert.equal(await store.purge(10), 0);
    assert.deepEqual(await claim({}, forEver), { state: 'done' });
    assert.equal((await claim()).state, 'busy');
    for (const one of old) hasParts(await claim({}, one), { attempt: 1 });
  });

  test('treats a done delivery that has expired as new, even if nothing was purged', async (tested) => {
    const { store, delivery, acquire } = tested;
    const first = await acquire({ leaseMs: LONG_AGO_MS, keepMs: 0 });
    await store.fail(delivery.key, first.fence, RETRY);
    const second = await acquire({ keepMs: 0 });
    await store.completeStep(delivery.key, second.fence, 'mail', 'sent');
    assert.equal(await store.complete(delivery.key, second.fence, 0), true);
    // A fence may be ahead of the clock by a millisecond for each earlier claim.
    await sleep(5);
    const anew = { ...delivery, id: 'whl_2', proof: 'the proof' };
    const third = await acquire({ leaseMs: LONG_AGO_MS, keepMs: Infinity }, anew);
    hasParts(third, { attempt: 1, steps: {} });
    // Otherwise a process that has the lease of a forgotten delivery could write to the new one.
    assert.ok(third.fence > second.fence);
    assertIsTime(third.fence);
    const [stalled] = await store.list({ state: 'stalled' });
    hasParts(stalled, { id: 'whl_2', attempts: 1, proof: 'the proof' });
    assert.equal(stalled?.error, undefined);
  });

  test('answers isDone for as long as a delivery is remembered, and isDone changes nothing', async (tested) => {
    const { store, delivery, acquire } = tested;
    // A store without `isDone` is not tested.
    if (!store.isDone) return;
    const [old, dead, effect] = [newDelivery(), newDelivery(), newDelivery()];
    assert.equal(await store.isDone(delivery.key), false);
    const { fence, attempt } = await acquire({ leaseMs: KEEP_MS });
    assert.deepEqual([attempt, await store.isDone(delivery.key)], [1, false]);
    await store.complete(delivery.key, fence, KEEP_MS);
    assert.equal(await store.isDone(delivery.key), true);

    const forEver = { ...effect, body: undefined };
    const { fence: first } = await acquire({ leaseMs: KEEP_MS, keepMs: Infinity }, forEver);
    await store.release(effect.key, first);
    assert.equal(await store.isDone(effect.key), false);
    const { fence: second } = await acquire({ keepMs: Infinity }, forEver);
    await store.complete(effect.key, second, Infinity);
    assert.equal(await store.isDone(effect.key), true);

    await store.complete(old.key, (await acquire({ keepMs: 0 }, old)).fence, 0);
    assert.equal(await store.isDone(old.key), false);
    const held = await acquire({}, dead);
    await store.fail(dead.key, held.fence, { ...RETRY, permanent: true });
    assert.equal(await store.isDone(dead.key), false);
    // Recovery asks for many keys at once.
    const asked = [old, delivery, dead, effect, delivery].map(({ key }) => store.isDone?.(key));
    assert.deepEqual(await Promise.all(asked), [false, true, false, true, true]);
  });

  test('keeps a dead delivery for the operator, even if it would have expired', async (tested) => {
    const { store, delivery, claim, acquire } = tested;
    const { fence } = await acquire({ keepMs: 0 });
    await store.fail(delivery.key, fence, { ...RETRY, permanent: true });
    assert.equal(await store.purge(10), 0);
    assert.equal((await claim()).state, 'dead');
  });

  test('marks a stalled delivery dead after its sender has given up, and keeps it for the operator', async (tested) => {
    const { store, claim, acquire } = tested;
    const late = { leaseMs: LONG_AGO_MS, keepMs: 0 };
    const [leased, other, effect] = [newDelivery(), newDelivery(), newDelivery()];
    const failed = newDelivery();
    await store.fail(failed.key, (await acquire({ keepMs: 0 }, failed)).fence, RETRY);
    await acquire(late, leased);
    await acquire(late, other);
    await acquire(late, { ...effect, body: undefined });
    await acquire({ keepMs: 0, leaseMs: 60_000 });
    // A store in memory only forgets the delivery, to make room: no operator would find it there.
    assert.equal(await store.purge(10), store.durable ? 2 : 0);
    assert.equal(await store.purge(10), 0);
    if (store.durable) {
      const [first, second] = await store.list({ state: 'dead', limit: 9 });
      assert.deepEqual([first?.key, second?.key], [leased.key, other.key].sort());
      assert.match(first?.error ?? '', /^abandoned/);
      // The delivery may be done: without this, an operator would have it delivered twice.
      hasParts([first, second], [{ interrupted: true }, { interrupted: true }]);
      assert.equal((await claim({}, leased)).state, 'dead');
    }
    // Its sender may still retry it.
    hasParts(await store.list({ state: 'failing' }), [{ key: failed.key, error: 'it threw' }]);
    assert.equal((await claim({}, effect)).state, 'acquired');
    assert.equal((await claim()).state, 'busy');
  });

  test('keeps the recorded output of an effect forever, even if its lease was released', async (tested) => {
    const { store, delivery, acquire } = tested;
    const effect = { ...delivery, body: undefined };
    let { fence } = await acquire({ keepMs: Infinity }, effect);
    // The largest size of goods.
    const output = { base64: 'x'.repeat(1_400_000) };
    assert.equal(await store.completeStep(effect.key, fence, 'goods', output), true);
    for (let claims = 0; claims < 2; claims++) {
      assert.equal(await store.release(effect.key, fence), true);
      assert.equal(await store.purge(10), 0);
      const next = await acquire({ keepMs: Infinity, leaseMs: 60_000 }, effect);
      hasParts(next, { attempt: 1, steps: { goods: output } });
      fence = next.fence;
    }
  });

  test('redrives a dead delivery as if it had never been tried, but with its completed steps', async (tested) => {
    const { store, delivery, claim, acquire } = tested;
    const { fence } = await acquire();
    await store.completeStep(delivery.key, fence, 'mail', 'sent');
    assert.equal(await store.fail(delivery.key, fence, { ...RETRY, permanent: true }), 'dead');
    assert.equal(await store.redrive(delivery.key), true);
    assert.deepEqual(await store.list({ state: 'dead', limit: 9 }), []);
    const next = await acquire({ leaseMs: LONG_AGO_MS });
    hasParts(next, { attempt: 1, steps: { mail: 'sent' } });
    assert.ok(next.fence > fence);
    // The failures are forgotten as well: no failure offsets a crash.
    assert.deepEqual(await claim({ maxCrashes: 1 }), { state: 'dead' });
  });

  test('redrives a delivery that is dead after crashes, and forgets the crashes', async (tested) => {
    const { store, delivery, claim, acquire } = tested;
    await acquire({ leaseMs: LONG_AGO_MS });
    assert.equal((await claim({ maxCrashes: 1 })).state, 'dead');
    assert.equal(await store.redrive(delivery.key), true);
    hasParts(await acquire({ leaseMs: LONG_AGO_MS, maxCrashes: 1 }), { attempt: 1 });
    assert.equal((await claim({ maxCrashes: 2 })).state, 'acquired');
  });

  test('redrives a stalled delivery with its completed steps, and rejects late writes of its last holder', async (tested) => {
    const { store, delivery, acquire } = tested;
    const { fence } = await acquire();
    await store.completeStep(delivery.key, fence, 'mail', 'sent');
    await store.renew(delivery.key, fence, LONG_AGO_MS);
    assert.equal(await store.redrive(delivery.key), true);
    assert.equal(await store.complete(delivery.key, fence, KEEP_MS), false);
    hasParts(await acquire(), { attempt: 1, steps: { mail: 'sent' } });
  });

  test('redrives no delivery that is being processed, waits for a retry, or is done', async (tested) => {
    const { store, delivery, claim, acquire } = tested;
    const { fence } = await acquire();
    assert.equal(await store.redrive(delivery.key), false);
    assert.equal(await store.fail(delivery.key, fence, RETRY), 'retry');
    assert.equal(await store.redrive(delivery.key), false);
    hasParts(await acquire(), { attempt: 2 });
    const done = newDelivery();
    const other = await acquire({}, done);
    await store.complete(done.key, other.fence, KEEP_MS);
    assert.equal(await store.redrive(done.key), false);
    assert.deepEqual(await claim({}, done), { state: 'done' });
  });

  test('accepts names, texts and bodies of any kind', async ({ store, delivery, acquire }) => {
    const odd: Claimable = {
      ...delivery,
      scope: 'a\u0000b\ud800"\'\\',
      id: '\u0000'.repeat(3),
      event: '💥'.repeat(50),
      body: Uint8Array.from({ length: 70_000 }, (_, index) => index % 256),
    };
    const { fence } = await acquire({}, odd);
    assert.equal(await store.completeStep(odd.key, fence, 'x\u0000\ud800', 'y\u0000💥'), true);
    const terms = { ...RETRY, permanent: true, error: 'z\u0000'.repeat(5_000) };
    assert.equal(await store.fail(odd.key, fence, terms), 'dead');
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    assert.equal(Buffer.from(dead?.body ?? []).equals(Buffer.from(odd.body ?? [])), true);
    assert.equal(dead?.event, odd.event);
    await store.redrive(odd.key);
    assert.deepEqual(Object.values((await acquire({}, odd)).steps), ['y\u0000💥']);
  });

  test('keeps the first 2,000 characters of an error', async ({ store, delivery, acquire }) => {
    const { fence } = await acquire();
    await store.fail(delivery.key, fence, { permanent: true, error: 'é'.repeat(10_000) });
    hasParts(await store.list({ state: 'dead' }), [{ error: 'é'.repeat(2_000) }]);
  });

  test('forgets the body of a done delivery', async ({ store, delivery, acquire }) => {
    const { fence } = await acquire({ leaseMs: LONG_AGO_MS });
    await store.complete(delivery.key, fence, KEEP_MS);
    assert.deepEqual(await store.list({ state: 'stalled', limit: 9 }), []);
    assert.deepEqual(await store.list({ state: 'dead', limit: 9 }), []);
  });
}
