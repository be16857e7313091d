import {
  createReceiver,
  type HandOff,
  type IdempotencyStore,
  type SealedDelivery,
} from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const hooks = { onError() {}, onRejected() {} };

function shop() {
  const store = durableStore();
  const mail = vi.fn();
  const receiver = createReceiver({ secret: SECRET, store, hooks, scope: 'shop' });
  receiver.on('order:paid', mail);
  return { store, mail, receiver };
}

/** Claims the delivery as crashing processes would, until it is dead. */
async function kill(store: IdempotencyStore) {
  let sealed: SealedDelivery | undefined;
  const queue: HandOff = {
    durable: true,
    enqueue: async (delivery) => {
      sealed = delivery;
      return { id: '1' };
    },
  };
  await deliver(createReceiver({ secret: SECRET, scope: 'shop', queue }), paidOrder());
  if (!sealed) throw new Error('nothing was handed off');
  const terms = { leaseMs: -1, keepMs: 60_000, maxCrashes: 5 };
  for (let crash = 0; crash < 6; crash++) {
    const claim = await store.claim(sealed, { ...terms, owner: `process ${crash}` });
    if (claim.state === 'acquired') await store.renew(sealed.key, claim.fence, -1);
  }
}

describe('a dead delivery', () => {
  test('answers parked to a retry, and runs no handler', async () => {
    const { store, receiver, mail } = shop();
    await kill(store);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 200, outcome: 'parked' });
    expect(mail).not.toHaveBeenCalled();
  });

  test('is handled by a redrive, and is a duplicate afterwards', async () => {
    const { store, receiver, mail } = shop();
    await kill(store);
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    if (!dead) throw new Error('nothing is dead');
    expect(await receiver.redrive(dead)).toMatchObject({ outcome: 'handled', attempt: 1 });
    expect(mail).toHaveBeenCalledOnce();
    expect(await store.list({ state: 'dead', limit: 9 })).toEqual([]);
    expect(await receiver.redrive(dead)).toMatchObject({ outcome: 'duplicate' });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
    expect(mail).toHaveBeenCalledOnce();
  });

  test('can be dispatched as the store lists it, with its original time', async () => {
    const { store, receiver } = shop();
    await kill(store);
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    if (!dead) throw new Error('nothing is dead');
    const came = vi.fn();
    receiver.on('*', ({ receivedAt }) => came(receivedAt));
    await store.redrive(dead.key);
    expect(await receiver.dispatch(dead)).toMatchObject({ outcome: 'handled' });
    expect(came).toHaveBeenCalledExactlyOnceWith(dead.receivedAt);
    expect(dead.receivedAt).toBeInstanceOf(Date);
  });

  test('goes back to the queue in its sealed form', async () => {
    const { store } = shop();
    await kill(store);
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    if (!dead) throw new Error('nothing is dead');
    const redriven = vi.fn(async (_: SealedDelivery) => ({ id: '1' }));
    const queue: HandOff = { durable: true, enqueue: redriven, redrive: redriven };
    const other = createReceiver({ secret: SECRET, store, hooks, scope: 'shop', queue });
    expect(await other.redrive(dead)).toMatchObject({ outcome: 'queued' });
    const { key, scope, id, event, body } = dead;
    const receivedAt = dead.receivedAt.getTime();
    const sealed = { key, scope, id, event, body, receivedAt, proof: expect.any(String) };
    expect(redriven.mock.calls[0]?.[0]).toEqual(sealed);
    const proof = JSON.parse(redriven.mock.calls[0]?.[0].proof ?? '');
    expect(proof).toMatchObject({ signature: sign(body, SECRET), url: '/webhooks' });
  });

  test('goes to the queue with a signature of the current secret, not of a retired one', async () => {
    const { store, receiver, mail } = shop();
    await kill(store);
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    if (!dead) throw new Error('nothing is dead');
    const redriven = vi.fn(async (_: SealedDelivery) => ({ id: '1' }));
    const queue: HandOff = { durable: true, enqueue: redriven, redrive: redriven };
    const until = new Date(Date.now() + 60_000);
    const retiredSecrets = [{ secret: 'the old one', until }];
    const options = { secret: SECRET, retiredSecrets, store, hooks, scope: 'shop', queue };
    expect(await createReceiver(options).redrive(dead)).toMatchObject({ outcome: 'queued' });
    const [again] = redriven.mock.calls[0] ?? [];
    if (!again) throw new Error('nothing was queued');
    // The old secret may have expired by the time that the worker takes the job.
    expect(await receiver.dispatch(again)).toMatchObject({ outcome: 'handled' });
    expect(mail).toHaveBeenCalledOnce();
  });

  test('is redriven under its own key, also by a receiver that keys in another way', async () => {
    const { store, receiver } = shop();
    await kill(store);
    const other = createReceiver({ secret: SECRET, store, hooks, scope: 'shop', keyBy: 'id' });
    const seen = vi.fn();
    other.on('order:paid', ({ key }) => seen(key));
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    if (!dead) throw new Error('nothing is dead');
    expect(await other.redrive(dead)).toMatchObject({ outcome: 'handled' });
    expect(seen).toHaveBeenCalledExactlyOnceWith(dead.key);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
  });

  test('is not redriven by a receiver of another scope', async () => {
    const { store } = shop();
    await kill(store);
    const books = createReceiver({ secret: SECRET, store, hooks, scope: 'books' });
    const handler = vi.fn();
    books.on('order:paid', handler);
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    if (!dead) throw new Error('nothing is dead');
    await expect(books.redrive(dead)).rejects.toMatchObject({ code: 'scope_invalid' });
    expect(handler).not.toHaveBeenCalled();
    expect(await store.list({ state: 'dead', scope: 'shop', limit: 9 })).toHaveLength(1);
    // A receiver for several shops redrives deliveries of each.
    const all = createReceiver({ secret: () => null, store, hooks }).on('order:paid', handler);
    expect(await all.redrive(dead)).toMatchObject({ outcome: 'handled' });
  });

  test('stays listed if a redrive is ignored, until a receiver has a handler for it', async () => {
    vi.useFakeTimers({ now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const { store, receiver, mail } = shop();
    await kill(store);
    const [dead] = await store.list({ state: 'dead' });
    if (!dead) throw new Error('nothing is dead');
    // By mistake: the order must not count as delivered.
    const without = createReceiver({ secret: SECRET, store, hooks, scope: 'shop' });
    expect(await without.redrive(dead)).toMatchObject({ outcome: 'ignored' });
    vi.advanceTimersByTime(61_000);
    const [stalled] = await store.list({ state: 'stalled' });
    expect(stalled?.key).toBe(dead.key);
    expect(await receiver.redrive(dead)).toMatchObject({ outcome: 'handled' });
    expect(mail).toHaveBeenCalledOnce();
    expect(await store.count({ state: 'stalled' })).toBe(0);
  });

  test('stays listed if the store is down', async () => {
    const { store } = shop();
    await kill(store);
    const down = Object.assign({}, store, {
      redrive: () => Promise.reject(new Error('connection refused')),
    });
    const other = createReceiver({ secret: SECRET, store: down, hooks, scope: 'shop' });
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    if (!dead) throw new Error('nothing is dead');
    await expect(other.redrive(dead)).rejects.toThrow('connection refused');
    expect(await store.list({ state: 'dead', limit: 9 })).toHaveLength(1);
  });
});
