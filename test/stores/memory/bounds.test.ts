import { createReceiver, memoryStore } from 'storefront-webhooks';
import { replay } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { memoryBehind } from '../../../src/stores/memory.js';
import { collect } from '../../support/memory.js';

const terms = (owner: string) => ({ owner, leaseMs: 60_000, keepMs: 60_000, maxCrashes: 3 });
const keyOf = (name: string) => Buffer.from(name).toString('hex').padEnd(64, '0');
const delivery = (key: string, bytes = 10) => ({
  key: keyOf(key),
  scope: '',
  id: key,
  event: 'order:paid',
  receivedAt: 0,
  body: new Uint8Array(bytes),
});

async function claim(
  store: ReturnType<typeof memoryStore>,
  key: string,
  bytes?: number,
  keepMs = 60_000,
) {
  const result = await store.claim(delivery(key, bytes), { ...terms(key), keepMs });
  return result.state === 'acquired' ? result.fence : 0;
}

const RETRY = { permanent: false, error: '' };

describe('the bounds of the memory store', () => {
  test('reject unknown names', () => {
    const misspelled = JSON.parse('{ "maxEntry": 3 }');
    expect(() => memoryStore(misspelled)).toThrow(/maxEntry.*"maxEntries"/);
  });

  test('evict done deliveries first, oldest first', async () => {
    const store = memoryStore({ maxEntries: 3 });
    await store.fail(keyOf('idle'), await claim(store, 'idle'), RETRY);
    await store.complete(keyOf('first'), await claim(store, 'first'), 60_000);
    await store.complete(keyOf('second'), await claim(store, 'second'), 60_000);
    await claim(store, 'new');
    expect(await store.claim(delivery('second'), terms('x'))).toEqual({ state: 'done' });
    expect(await store.claim(delivery('idle'), terms('x'))).toMatchObject({ attempt: 2 });
  });

  test('then evict the delivery that has waited longest for its retry', async () => {
    const store = memoryStore({ maxEntries: 2 });
    await store.fail(keyOf('older'), await claim(store, 'older'), RETRY);
    await store.fail(keyOf('newer'), await claim(store, 'newer'), RETRY);
    await claim(store, 'new');
    expect(await store.claim(delivery('newer'), terms('x'))).toMatchObject({ attempt: 2 });
  });

  test('never evict a running delivery: a full store rejects the claim', async () => {
    const store = memoryStore({ maxEntries: 2 });
    await claim(store, 'a');
    await claim(store, 'b');
    await expect(claim(store, 'c')).rejects.toMatchObject({ code: 'store_full' });
    expect(await store.claim(delivery('a'), terms('x'))).toMatchObject({ state: 'busy' });
  });

  test('evict completed effects last, because they are kept forever', async () => {
    const store = memoryStore({ maxEntries: 3 });
    const effect = await store.claim(delivery('effect'), { ...terms('effect'), keepMs: Infinity });
    await store.complete(keyOf('effect'), effect.state === 'acquired' ? effect.fence : 0, Infinity);
    await store.fail(keyOf('idle'), await claim(store, 'idle'), RETRY);
    for (const key of ['a', 'b', 'c', 'd']) {
      await store.complete(keyOf(key), await claim(store, key), 60_000);
    }
    expect(await store.claim(delivery('effect'), terms('x'))).toEqual({ state: 'done' });
  });

  test('evict goods only after all deliveries, because goods are kept forever', async () => {
    const store = memoryStore({ maxEntries: 3 });
    const terms = (owner: string) => ({ owner, leaseMs: 60_000, keepMs: Infinity, maxCrashes: 3 });
    const goods = { ...delivery('goods'), body: undefined };
    const claimed = await store.claim(goods, terms('a'));
    const fence = claimed.state === 'acquired' ? claimed.fence : 0;
    await store.completeStep(goods.key, fence, 'goods', 'KEY');
    await store.release(goods.key, fence);
    for (const key of ['a', 'b', 'c', 'd']) {
      await store.fail(keyOf(key), await claim(store, key), RETRY);
    }
    expect(await store.claim(goods, terms('b'))).toMatchObject({ steps: { goods: 'KEY' } });
  });

  test('evict an expired lease', async () => {
    const store = memoryStore({ maxEntries: 1 });
    await store.claim(delivery('a'), { ...terms('a'), leaseMs: 0 });
    expect(await claim(store, 'b')).toBeGreaterThan(0);
  });

  test('evict an expired lease, even if an older lease was renewed', async () => {
    const store = memoryStore({ maxEntries: 2 });
    const running = await claim(store, 'running');
    await store.claim(delivery('crashed'), { ...terms('crashed'), leaseMs: 0 });
    expect(await store.renew(keyOf('running'), running, 60_000)).toBe(true);
    expect(await claim(store, 'new')).toBeGreaterThan(0);
    expect(await store.claim(delivery('running'), terms('x'))).toMatchObject({ state: 'busy' });
  });

  test('count bytes, and no longer count the body of a done delivery', async () => {
    const store = memoryStore({ maxBytes: 20_000 });
    const fence = await claim(store, 'big', 15_000);
    await expect(claim(store, 'other', 15_000)).rejects.toMatchObject({ code: 'store_full' });
    await store.complete(keyOf('big'), fence, 60_000);
    expect(await claim(store, 'other', 15_000)).toBeGreaterThan(0);
    expect(await store.claim(delivery('big'), terms('x'))).toEqual({ state: 'done' });
  });

  test('evict nothing for a delivery that still would not fit', async () => {
    const store = memoryStore({ maxBytes: 20_000 });
    await store.complete(keyOf('done'), await claim(store, 'done'), 60_000);
    await expect(claim(store, 'huge', 20_000)).rejects.toMatchObject({ code: 'store_full' });
    await claim(store, 'running', 10_000);
    await expect(claim(store, 'large', 10_000)).rejects.toMatchObject({ code: 'store_full' });
    expect(await store.claim(delivery('done'), terms('x'))).toEqual({ state: 'done' });
  });

  test('count the results of handlers, and evict others for them', async () => {
    const store = memoryStore({ maxBytes: 20_000 });
    await store.complete(keyOf('done'), await claim(store, 'done'), 60_000);
    const other = await claim(store, 'other');
    const fence = await claim(store, 'running');
    const output = 'x'.repeat(18_100);
    expect(await store.completeStep(keyOf('running'), fence, 'a', output)).toBe(true);
    // Replaces the first one.
    expect(await store.completeStep(keyOf('running'), fence, 'a', output)).toBe(true);
    await expect(store.completeStep(keyOf('running'), fence, 'b', output)).rejects.toMatchObject({
      code: 'store_full',
    });
    // The failed one is not recorded, and no lease was evicted.
    expect(await store.claim(delivery('running'), terms('running'))).toMatchObject({
      fence,
      steps: { a: output },
    });
    expect(await store.renew(keyOf('other'), other, 60_000)).toBe(true);
    await store.release(keyOf('running'), fence);
    expect(await claim(store, 'done')).toBeGreaterThan(0);
  });

  test.each([Number.NaN, -1])('return nothing for a limit of %d', async (limit) => {
    const store = memoryStore();
    for (const key of ['a', 'b']) {
      await store.fail(keyOf(key), await claim(store, key), { ...RETRY, permanent: true });
      await store.complete(keyOf(`${key} done`), await claim(store, `${key} done`, 10, 0), 0);
    }
    expect(await store.list({ state: 'dead', limit })).toEqual([]);
    expect(await store.purge(limit)).toBe(0);
    expect(await store.list({ state: 'dead', limit: Infinity })).toHaveLength(2);
    expect(await store.purge(Infinity)).toBe(2);
  });

  test.each([{ maxEntries: 0 }, { maxBytes: -1 }, { maxEntries: Number.NaN }])(
    'reject %o',
    (options) => {
      expect(() => memoryStore(options)).toThrow(
        expect.objectContaining({ code: 'option_invalid' }),
      );
    },
  );
});

test('the guard recognises the memory store and does not wrap it', () => {
  const store = memoryStore();
  expect(store.description).toBe('memory');
  expect(memoryBehind(store)).toBeDefined();
  expect(memoryBehind({ ...store, durable: false })).toBeUndefined();
  expect(memoryBehind(Object.assign(store, { renew: async () => true }))).toBeUndefined();
});

test('a receiver whose memory store is full answers 503 with Retry-After', async () => {
  let finish = () => {};
  const running = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const errors: unknown[] = [];
  const receiver = createReceiver({
    secret: 'a secret for tests',
    store: memoryStore({ maxEntries: 1 }),
    hooks: { onError: (error) => errors.push(error) },
  }).on('*', () => running);
  const first = replay(receiver, 'order:paid');
  const second = await replay(receiver, 'order:created');
  expect(second).toMatchObject({
    status: 503,
    outcome: 'unavailable',
    headers: { 'retry-after': '1' },
  });
  expect(errors).toEqual([expect.objectContaining({ code: 'store_unavailable' })]);
  finish();
  expect(await first).toMatchObject({ outcome: 'handled' });
});

test('a memory store forgets the body of a done delivery', async () => {
  const store = memoryStore();
  let body: Uint8Array | undefined = new Uint8Array(10);
  const held = new WeakRef(body);
  const claimed = await store.claim({ ...delivery('done'), body }, terms('done'));
  const fence = claimed.state === 'acquired' ? claimed.fence : 0;
  await store.complete(keyOf('done'), fence, 60_000);
  body = undefined;
  const isHeld = () => {
    collect();
    return held.deref() !== undefined;
  };
  await expect.poll(isHeld, { timeout: 2_000 }).toBe(false);
  expect(await store.isDone?.(keyOf('done'))).toBe(true);
});
