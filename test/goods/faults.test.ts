import { type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { createGoods, type GoodsOptions, type MakeGoods } from 'storefront-webhooks/goods';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { goodsKey } from '../../src/request/key.js';
import { forward } from '../../src/stores/contract.js';
import { call, keys, ORDER, SECRET } from './calls.js';

const KEY = goodsKey('', ORDER.id);
const TERMS = { owner: 'another', leaseMs: 60_000, keepMs: Infinity, maxCrashes: Infinity };
const EFFECT = { key: KEY, scope: '', id: 'ord_1', event: 'goods', receivedAt: 0, body: undefined };

function shop(store: IdempotencyStore, make: MakeGoods, options: Partial<GoodsOptions> = {}) {
  const onError = vi.fn();
  const goods = createGoods({ secret: SECRET, store, hooks: { onError }, ...options }, make);
  return { goods, onError };
}

/** Lets time pass only if the test advances it. */
function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** The codes of the reported errors. */
const codes = (onError: ReturnType<typeof vi.fn>) => onError.mock.calls.map(([{ code }]) => code);

describe('if the store', () => {
  test('is down, no goods are made, and the sender is asked to retry', async () => {
    const { make } = keys();
    const store = forward(memoryStore(), {
      claim: async () => {
        throw new Error('connection refused');
      },
    });
    const { goods, onError } = shop(store, make);
    const answer = await call(goods);
    expect(answer).toMatchObject({ status: 503, outcome: 'unavailable' });
    expect(answer.headers['retry-after']).toBe('1');
    expect(codes(onError)).toEqual(['store_unavailable']);
  });

  test('cannot record the goods, they are not sent, and are recorded as soon as possible', async () => {
    const shared = keys();
    const memory = memoryStore();
    let isDown = true;
    const store = forward(memory, {
      completeStep: async (...args) => {
        if (isDown) throw new Error('connection refused');
        return memory.completeStep(...args);
      },
    });
    const { goods, onError } = shop(store, shared.make);
    expect(await call(goods)).toMatchObject({ status: 503, outcome: 'unavailable' });
    expect(codes(onError)).toEqual(['store_unavailable']);
    isDown = false;
    expect(await call(goods)).toMatchObject({ status: 200, body: 'KEY-1', outcome: 'duplicate' });
    expect(shared.made).toBe(1);
  });

  test('records the goods but loses its answer, the same goods are sent', async () => {
    const shared = keys();
    const memory = memoryStore();
    let lost = 0;
    const store = forward(memory, {
      completeStep: async (...args) => {
        const isHeld = await memory.completeStep(...args);
        lost += 1;
        if (lost <= 3) throw new Error('connection reset');
        return isHeld;
      },
    });
    expect(await call(shop(store, shared.make).goods)).toMatchObject({ status: 503 });
    expect(await call(shop(memory, shared.make).goods)).toMatchObject({ body: 'KEY-1' });
    expect(shared.made).toBe(1);
  });

  test('cannot release the lease, the goods are still sent', async () => {
    const shared = keys();
    const memory = memoryStore();
    const release = vi.fn(memory.release).mockRejectedValue(new Error('connection reset'));
    const { goods, onError } = shop(forward(memory, { release }), shared.make);
    expect(await call(goods)).toMatchObject({ status: 200, body: 'KEY-1' });
    release.mockImplementation(memory.release);
    expect(await call(goods)).toMatchObject({ status: 200, body: 'KEY-1' });
    expect(shared.made).toBe(1);
    expect(onError).not.toHaveBeenCalled();
  });

  test('gives the lease to another process once the goods are recorded, they are sent and nothing is reported', async () => {
    const shared = keys();
    const memory = memoryStore();
    const { goods, onError } = shop(forward(memory, { release: async () => false }), shared.make);
    expect(await call(goods)).toMatchObject({ status: 200, body: 'KEY-1' });
    expect(onError).not.toHaveBeenCalled();
    expect(shared.made).toBe(1);
  });

  test.each([
    [
      'has a record that they were sent',
      async (store: IdempotencyStore, fence: number) => {
        await store.complete(KEY, fence, Infinity);
      },
    ],
    [
      'has another value in their place',
      async (store: IdempotencyStore, fence: number) => {
        await store.completeStep(KEY, fence, '["goods"]', { status: 100 });
        await store.release(KEY, fence);
      },
    ],
  ])('%s, written by another program, no goods are sent', async (_, write) => {
    const store = memoryStore();
    const claim = await store.claim(EFFECT, TERMS);
    await write(store, claim.state === 'acquired' ? claim.fence : 0);
    const { make } = keys();
    const { goods, onError } = shop(store, make);
    expect(await call(goods)).toMatchObject({ status: 500, outcome: 'failed' });
    expect(codes(onError)).toEqual(['store_invalid']);
  });
});

describe('a function that makes goods', () => {
  test('sends the goods of the process that has taken over its lease, and not its own', async () => {
    const memory = memoryStore();
    // The process is frozen: its lease expires at once, and is not renewed.
    const frozen = forward(memory, {
      claim: (delivery, lease) => memory.claim(delivery, { ...lease, leaseMs: 5 }),
    });
    let thaw = () => {};
    const isThawed = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    const first = shop(frozen, async () => {
      await isThawed;
      return 'OF THE FROZEN ONE';
    });
    const asked = call(first.goods);
    const second = shop(memory, async () => 'OF THE OTHER');
    expect(await call(second.goods)).toMatchObject({ status: 200, body: 'OF THE OTHER' });
    thaw();
    expect(await asked).toMatchObject({ status: 503, outcome: 'busy' });
    expect(codes(first.onError)).toEqual(['lease_lost']);
    expect(await call(first.goods)).toMatchObject({ status: 200, body: 'OF THE OTHER' });
  });

  test('that blocks its process for longer than a lease makes the other calls retry', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    const store = memoryStore();
    const made: string[] = [];
    const { goods } = shop(store, ({ id }) => {
      made.push(id);
      // No timer fires meanwhile, so that no lease is renewed.
      if (made.length === 1) now += 11_000;
      return `KEY of ${id}`;
    });
    const other = { ...ORDER, id: 'ord_2' };
    // Both calls have their leases before the first one makes its goods.
    const answers = await Promise.all([call(goods), call(goods, other)]);
    expect(answers).toMatchObject([
      { status: 200, body: 'KEY of ord_1' },
      { status: 503, outcome: 'busy' },
    ]);
    expect(made).toEqual(['ord_1']);
    expect(await call(goods, other)).toMatchObject({ status: 200, body: 'KEY of ord_2' });
    expect(made).toEqual(['ord_1', 'ord_2']);
  });

  test('that died delays the next call until its lease expires', async () => {
    const memory = memoryStore();
    await memory.claim(EFFECT, { ...TERMS, leaseMs: 300 });
    const { goods } = shop(memory, () => 'KEY-1');
    expect(await call(goods)).toMatchObject({ status: 200, body: 'KEY-1' });
  });

  test('that died delays the next call for the 10 s of a default lease', async () => {
    useFakeClock();
    const memory = memoryStore();
    await memory.claim(EFFECT, { ...TERMS, leaseMs: 10_000 });
    const answer = call(shop(memory, () => 'KEY-1').goods);
    await vi.advanceTimersByTimeAsync(11_000);
    expect(await answer).toMatchObject({ status: 200, body: 'KEY-1' });
  });

  test('delays a second call in its process until it returns, within its time limit', async () => {
    useFakeClock();
    const { goods } = shop(memoryStore(), async () => {
      await new Promise((resolve) => setTimeout(resolve, 55_000));
      return 'KEY-1';
    });
    const answers = Promise.all([call(goods), call(goods)]);
    await vi.advanceTimersByTimeAsync(55_000);
    expect(await answers).toMatchObject([
      { status: 200, body: 'KEY-1', outcome: 'handled' },
      { status: 200, body: 'KEY-1', outcome: 'duplicate' },
    ]);
  });

  test('that fails runs again once all its steps have ended, although a step fails before another ends', async () => {
    const book = vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve, 10)));
    const mail = vi.fn(async () => {});
    mail.mockRejectedValueOnce(new Error('no address'));
    const { goods } = shop(memoryStore(), (_, { once, attempt }) => {
      void once('book', book);
      void once('mail', mail);
      if (attempt === 1) throw new Error('no key is left');
      return 'KEY-2';
    });
    expect([await call(goods), await call(goods)]).toMatchObject([
      { status: 500 },
      { status: 200, body: 'KEY-2' },
    ]);
    expect([book, mail].map(({ mock }) => mock.calls.length)).toEqual([1, 2]);
  });

  test('that takes too long gets an aborted signal, and the next call gets its goods', async () => {
    const { goods, onError } = shop(
      memoryStore(),
      async (_order, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await new Promise((resolve) => setTimeout(resolve, 10));
        return 'LATE';
      },
      { timeout: 20 },
    );
    expect(await call(goods)).toMatchObject({ status: 500, outcome: 'failed' });
    expect(codes(onError)).toEqual(['handler_timeout']);
    expect(await call(goods)).toMatchObject({ status: 200, body: 'LATE', outcome: 'duplicate' });
  });

  test('that never returns delays another call for 15 s, which then gets 503', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const store = memoryStore();
      const hanging = call(shop(store, () => new Promise<string>(() => {})).goods);
      await vi.advanceTimersByTimeAsync(100);
      const other = call(shop(store, () => 'KEY-1').goods);
      await vi.advanceTimersByTimeAsync(15_100);
      expect(await other).toMatchObject({ status: 503, outcome: 'busy' });
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await hanging).toMatchObject({ status: 500, outcome: 'failed' });
    } finally {
      vi.useRealTimers();
    }
  });
});
