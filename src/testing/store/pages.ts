import assert from 'node:assert/strict';
import { hasParts } from '../suite.js';
import { LONG_AGO_MS, newDelivery, RETRY, type StoreTest } from './tested.js';

/** Defines the tests of what an operator finds in a store, a page at a time. */
export function definePages(test: StoreTest): void {
  test('lists deliveries that are long past due as stalled, with their bodies, a page at a time', async (tested) => {
    const { store, acquire } = tested;
    const stalled = [newDelivery(), newDelivery(), newDelivery()];
    for (const one of stalled) {
      await acquire({ leaseMs: LONG_AGO_MS }, one);
    }
    await acquire();
    await acquire({ leaseMs: LONG_AGO_MS }, { ...newDelivery(), body: undefined });
    const first = await store.list({ state: 'stalled', limit: 2 });
    const rest = await store.list({ state: 'stalled', limit: 2, after: first[1]?.key });
    assert.deepEqual(
      [...first, ...rest].map(({ key }) => key),
      stalled.map(({ key }) => key).sort(),
    );
    const found = [...first, ...rest].find(({ key }) => key === stalled[0]?.key);
    assert.ok(found?.lastTriedAt instanceof Date && found.dueAt instanceof Date);
    assert.equal(Buffer.from(found.body).toString(), '{"id":"ord_1"}');
    const { body, receivedAt, ...sent } = stalled[0] ?? newDelivery();
    hasParts(found, {
      ...sent,
      receivedAt: new Date(receivedAt),
      proof: undefined,
      state: 'stalled',
      attempts: 1,
      error: undefined,
      interrupted: true,
      orderId: 'ord_1',
      email: undefined,
    });
    assert.deepEqual(await store.list({ state: 'dead', limit: 9 }), []);
  });

  test('lists dead deliveries, with their bodies, a page at a time', async ({ store, acquire }) => {
    const dead = [newDelivery(), newDelivery(), newDelivery()];
    for (const one of dead) {
      await store.fail(one.key, (await acquire({}, one)).fence, { ...RETRY, permanent: true });
    }
    await acquire();
    const first = await store.list({ state: 'dead', limit: 2 });
    const rest = await store.list({ state: 'dead', limit: 2, after: first[1]?.key });
    const keys = dead.map(({ key }) => key).sort();
    assert.deepEqual(
      [...first, ...rest].map(({ key }) => key),
      keys,
    );
    hasParts(first[0], {
      state: 'dead',
      attempts: 1,
      error: 'it threw',
      scope: 'shop',
    });
    assert.equal(Buffer.from(first[0]?.body ?? []).toString(), '{"id":"ord_1"}');
    assert.deepEqual(await store.list({ state: 'stalled', limit: 9 }), []);
  });

  test('lists the deliveries of one scope, a page at a time', async ({ store, acquire }) => {
    const other = { ...newDelivery(), scope: 'books' };
    const games = [newDelivery(), newDelivery(), newDelivery()];
    for (const one of [...games, other]) {
      await store.fail(one.key, (await acquire({}, one)).fence, { ...RETRY, permanent: true });
    }
    const listed = await store.list({ state: 'dead', scope: 'books', limit: 1 });
    assert.deepEqual(
      listed.map(({ key }) => key),
      [other.key],
    );
    const first = await store.list({ state: 'dead', scope: 'shop', limit: 2 });
    const rest = await store.list({
      state: 'dead',
      scope: 'shop',
      limit: 2,
      after: first[1]?.key,
    });
    const keys = games.map(({ key }) => key).sort();
    assert.deepEqual(
      [...first, ...rest].map(({ key }) => key),
      keys,
    );
    assert.equal((await store.list({ state: 'dead', limit: 9 })).length, 4);
    assert.equal(await store.count({ state: 'dead', scope: 'shop' }), 3);
    assert.equal(await store.count({ state: 'dead', scope: 'shops' }), 0);
  });

  test('does not list an effect, which has no body to process again', async (tested) => {
    const { store, delivery, acquire } = tested;
    const effect = { ...delivery, body: undefined };
    await store.fail(effect.key, (await acquire({}, effect)).fence, {
      ...RETRY,
      permanent: true,
    });
    assert.deepEqual(await store.list({ state: 'dead', limit: 9 }), []);
  });
}
