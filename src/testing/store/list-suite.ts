import assert from 'node:assert/strict';
import { TextDecoder, toUtf8 } from '../../runtime/bytes.js';
import type { Claimable } from '../../stores/store.js';
import { hasParts } from '../suite.js';
import {
  CLOCKS_MS,
  LATER_MS,
  LONG_AGO_MS,
  newDelivery,
  RETRY,
  STATES,
  type StoreTest,
} from './tested.js';

/** Defines the tests of what an operator finds in a store, in each state. */
export function defineListing(test: StoreTest): void {
  test('lists each unfinished delivery in one state, or in none', async (tested) => {
    const { store, fail, lapse, keysIn, fenceOf } = tested;
    const first = newDelivery();
    const waiting = newDelivery();
    const running = newDelivery();
    const lapsed = newDelivery();
    const crashed = newDelivery();
    const released = newDelivery();
    const stalled = newDelivery();
    const dead = newDelivery();
    const done = newDelivery();
    await fenceOf({ leaseMs: LATER_MS }, first);
    await fail(waiting);
    await fail(running);
    await fenceOf({ leaseMs: LATER_MS }, running);
    await lapse(lapsed);
    await lapse(crashed);
    await fenceOf({ leaseMs: LATER_MS, maxCrashes: 9 }, crashed);
    await store.release(released.key, await fenceOf({ leaseMs: LATER_MS }, released));
    await fenceOf({ leaseMs: LONG_AGO_MS }, stalled);
    await fail(dead, { permanent: true });
    await fail(done);
    await store.complete(done.key, await fenceOf({ leaseMs: LATER_MS }, done), LATER_MS);

    const sorted = (...deliveries: Claimable[]) => deliveries.map(({ key }) => key).sort();
    const failing = sorted(waiting, running, lapsed, crashed);
    assert.deepEqual(await keysIn('failing'), failing);
    assert.deepEqual(await keysIn('stalled'), sorted(stalled));
    assert.deepEqual(await keysIn('dead'), sorted(dead));
    assert.deepEqual(await Promise.all(STATES.map((state) => store.count({ state }))), [1, 1, 4]);

    const page = await store.list({ state: 'failing', limit: 3 });
    const rest = await store.list({ state: 'failing', limit: 3, after: page[2]?.key });
    assert.deepEqual(
      [...page, ...rest].map(({ key }) => key),
      failing,
    );
    const scoped = (scope: string) => store.list({ state: 'failing', scope, limit: 9 });
    assert.equal((await scoped('shop')).length, 4);
    assert.deepEqual(await scoped('books'), []);
  });

  test('does not list an effect as failing', async ({ store, fail, lapse, keysIn }) => {
    await fail({ ...newDelivery(), body: undefined });
    await lapse({ ...newDelivery(), body: undefined });
    assert.deepEqual(await keysIn('failing'), []);
    assert.equal(await store.count({ state: 'failing' }), 0);
  });

  test('lists a redriven delivery as failing only after it fails again', async (tested) => {
    const { store, fail, keysIn, only } = tested;
    const delivery = newDelivery();
    await fail(delivery);
    await fail(delivery, { permanent: true });
    assert.equal(await store.redrive(delivery.key), true);
    for (const state of STATES) assert.deepEqual(await keysIn(state), []);
    await fail(delivery);
    hasParts(await only('failing'), { key: delivery.key, attempts: 1 });
  });

  test('does not redrive a failing delivery', async ({ store, fail, keysIn }) => {
    const delivery = newDelivery();
    await fail(delivery);
    assert.equal(await store.redrive(delivery.key), false);
    assert.deepEqual(await keysIn('failing'), [delivery.key]);
  });

  test('returns when a delivery arrived, was last tried and is due, as dates', async (tested) => {
    const { store, fail, only, fenceOf } = tested;
    const delivery = newDelivery();
    const close = (date: Date | undefined, ms: number) => {
      assert.ok(date instanceof Date);
      assert.ok(Math.abs(Number(date) - ms) < CLOCKS_MS);
    };
    await fail(delivery);
    const failing = await only('failing');
    hasParts(failing, { state: 'failing', attempts: 1, error: 'it threw' });
    assert.deepEqual(failing.receivedAt, new Date(delivery.receivedAt));
    close(failing.lastTriedAt, Date.now());
    close(failing.dueAt, Date.now());
    await fenceOf({ leaseMs: LATER_MS }, delivery);
    close((await only('failing')).dueAt, Date.now() + LATER_MS);

    const other = newDelivery();
    await fenceOf({ leaseMs: LONG_AGO_MS }, other);
    const stalled = await only('stalled');
    close(stalled.lastTriedAt, Date.now());
    close(stalled.dueAt, Date.now() + LONG_AGO_MS);
    assert.equal(stalled.error, undefined);

    await store.fail(other.key, await fenceOf({ leaseMs: LATER_MS }, other), {
      ...RETRY,
      permanent: true,
    });
    const dead = await only('dead');
    close(dead.lastTriedAt, Date.now());
    assert.equal(dead.dueAt, undefined);
  });

  const BODIES: readonly (readonly [
    what: string,
    body: string,
    orderId: string | undefined,
    email: string | undefined,
  ])[] = [
    ['an order', '{"id":"ord_7","email":"a@example.com"}', 'ord_7', 'a@example.com'],
    [
      'an order in an event',
      '{"event":"order:paid","id":"no","data":{"id":"ord_8","email":"b@example.com"}}',
      'ord_8',
      'b@example.com',
    ],
    ['an order with data of its own', '{"id":"ord_9","data":{"id":"no"}}', 'ord_9', undefined],
    ['an id that is not text', '{"id":9,"email":null}', undefined, undefined],
    ['a list', '[{"id":"no"}]', undefined, undefined],
    ['a text', '"id"', undefined, undefined],
    ['null', 'null', undefined, undefined],
    ['invalid JSON', '{"id":"ord_1"', undefined, undefined],
    ['an empty body', '', undefined, undefined],
    ['an endless id', `{"id":"${'x'.repeat(9_999)}"}`, 'x'.repeat(200), undefined],
  ];
  for (const [what, body, orderId, email] of BODIES) {
    test(`reads the order of a delivery from ${what}`, async ({ fail, only }) => {
      const delivery = { ...newDelivery(), body: toUtf8(body) };
      await fail(delivery);
      const failing = await only('failing');
      assert.deepEqual({ orderId: failing.orderId, email: failing.email }, { orderId, email });
      assert.equal(new TextDecoder().decode(failing.body), body);
    });
  }

  test('keeps the proof of a body, or its absence', async (tested) => {
    const { store, fail, keysIn, only, fenceOf } = tested;
    const proofs = ['{"signature":"ab\\u0000","é💥":[1]}', '', 'p'.repeat(20_000), undefined];
    for (const proof of proofs) {
      const delivery = { ...newDelivery(), proof };
      await fail(delivery);
      // A retry may have another proof. The proof of the stored body counts.
      const again = { ...delivery, proof: 'another' };
      const fence = await fenceOf({ leaseMs: LATER_MS }, again);
      const failing = await only('failing');
      assert.equal(failing.proof, proof);
      await store.complete(delivery.key, fence, LATER_MS);
      assert.deepEqual(await keysIn('failing'), []);
    }
  });

  test('returns a sealed delivery unchanged', async ({ fail, only }) => {
    const delivery = { ...newDelivery(), proof: 'the proof' };
    await fail(delivery, { permanent: true });
    const {
      body,
      receivedAt,
      state,
      attempts,
      error,
      interrupted,
      orderId,
      email,
      lastTriedAt,
      dueAt,
      ...rest
    } = await only('dead');
    assert.equal(interrupted, false);
    const given = { ...rest, receivedAt: receivedAt.getTime(), body: Uint8Array.from(body) };
    assert.deepEqual(given, delivery);
  });
}
