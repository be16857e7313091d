import { Hono } from 'hono';
import { createReceiver, memoryStore, type Receiver } from 'storefront-webhooks';
import { toHono } from 'storefront-webhooks/hono';
import { replay } from 'storefront-webhooks/testing';
import { toWorker } from 'storefront-webhooks/workers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SECRET } from './apps/inside/contract.js';

interface Env {
  readonly secret: string;
}

const make = vi.fn(({ secret }: Env) =>
  createReceiver({ secret, store: memoryStore() }).on('*', () => {}),
);

test('a Worker has one receiver per environment, with its secret', async () => {
  const worker = toWorker(make);
  const waitUntil = vi.fn();
  const send = async (env: Env, secret: string, id: string) => {
    const fetch = (request: Request) => worker.fetch(request, env, { waitUntil });
    return (await replay({ fetch }, 'order:paid', { secret, id })).outcome;
  };
  const one = { secret: 'one secret' };
  const other = { secret: 'another secret' };
  expect(await send(one, 'one secret', '1')).toBe('handled');
  expect(await send(one, 'one secret', '1')).toBe('duplicate');
  expect(await send(other, 'one secret', '1')).toBe('rejected');
  expect(await send(other, 'another secret', '1')).toBe('handled');
  expect(make.mock.calls).toEqual([[one], [other]]);
});

type Make = (env: Env) => Receiver;
type WaitUntil = (promise: Promise<unknown>) => void;

describe.each([
  [
    'toWorker',
    (make: Make, env: Env, waitUntil: WaitUntil) => {
      const worker = toWorker(make);
      return (request: Request) => worker.fetch(request, env, { waitUntil });
    },
  ],
  [
    'toHono',
    (make: Make, env: Env, waitUntil: WaitUntil) => {
      const app = new Hono().post('/', toHono(make));
      const context = { waitUntil, passThroughOnException() {}, props: {} };
      return async (request: Request) => app.fetch(request, env, context);
    },
  ],
])('%s passes waitUntil a promise that resolves', (_, mount) => {
  const env = { secret: SECRET };
  const sent = { secret: SECRET, path: '/' };

  test('when the delivery is done, even if its sender leaves', async () => {
    const waited: Promise<unknown>[] = [];
    const fetch = mount(make, env, (promise) => waited.push(promise));
    expect(await replay({ fetch }, 'order:paid', sent)).toMatchObject({ outcome: 'handled' });
    expect(waited).toHaveLength(1);
    expect(await waited[0]).toBeInstanceOf(Response);
  });

  test('when the outcome is recorded, if the store was down before', async () => {
    const store = memoryStore();
    const complete = vi.fn(store.complete.bind(store));
    for (let time = 0; time < 4; time++) complete.mockRejectedValueOnce(new Error('it restarts'));
    Object.assign(store, { complete });
    const waited: Promise<unknown>[] = [];
    const makeOne = ({ secret }: Env) => createReceiver({ secret, store }).on('*', () => {});
    const fetch = mount(makeOne, env, (promise) => waited.push(promise));
    expect(await replay({ fetch }, 'order:paid', sent)).toMatchObject({ outcome: 'handled' });
    expect(complete).toHaveBeenCalledTimes(3);
    await Promise.all(waited);
    expect(complete).toHaveBeenCalledTimes(5);
    expect(await replay({ fetch }, 'order:paid', sent)).toMatchObject({ outcome: 'duplicate' });
  });
});

describe('without a context, a response waits for the record of another delivery', () => {
  /** A Worker whose store refuses the record of each delivery that comes while `isDown` is true. */
  const open = () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const store = memoryStore();
    const shop = { isDown: true };
    const refused = new Set<string>();
    const complete: typeof store.complete = async (key, ...terms) => {
      if (shop.isDown) refused.add(key);
      if (refused.has(key)) throw new Error('it restarts');
      return store.complete(key, ...terms);
    };
    const worker = toWorker(({ secret }: Env) =>
      createReceiver({ secret, store: { ...store, complete }, hooks: { onError() {} } }).on(
        '*',
        () => {},
      ),
    );
    const env = { secret: SECRET };
    const send = (id: string) => {
      const answered = vi.fn();
      const fetch = (request: Request) => worker.fetch(request, env);
      void replay({ fetch }, 'order:paid', { secret: SECRET, id, timeout: 60_000 }).then(answered);
      return answered;
    };
    /** Sends a delivery, and returns after how many seconds it was answered. */
    const waits = async (id: string) => {
      const answered = send(id);
      const startedAt = performance.now();
      while (answered.mock.calls.length === 0) await vi.advanceTimersByTimeAsync(100);
      expect(answered.mock.calls).toEqual([[expect.objectContaining({ outcome: 'handled' })]]);
      return Math.round((performance.now() - startedAt) / 1_000);
    };
    /** Sends a delivery whose record the store refuses. */
    const refuse = async (id: string) => {
      const before = refused.size;
      shop.isDown = true;
      send(id);
      await vi.waitFor(() => expect(refused.size).toBe(before + 1));
      shop.isDown = false;
      await vi.advanceTimersByTimeAsync(1_000);
    };
    return { refuse, refused, send, waits };
  };

  test('10 s at most, and then 2 s, until that ends', async () => {
    const { refuse, refused, send, waits } = open();
    await refuse('1');
    expect(await waits('2')).toBe(10);
    expect(await waits('3')).toBe(2);
    const answered = send('4');
    refused.clear();
    await vi.advanceTimersByTimeAsync(1_500);
    expect(answered).toHaveBeenCalledOnce();
    await refuse('5');
    expect(await waits('6')).toBe(10);
  });

  test('2 s at most for one that never ends, because its sender has hung up', async () => {
    const { refuse, waits } = open();
    await refuse('1');
    // Workers end the timers of its request.
    vi.clearAllTimers();
    expect(await waits('2')).toBe(10);
    for (const id of ['3', '4']) expect(await waits(id)).toBe(2);
  });
});
