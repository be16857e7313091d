import { createHash, randomBytes } from 'node:crypto';
import {
  createReceiver,
  type HandOff,
  type IdempotencyStore,
  type SealedDelivery,
} from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Dispatching } from '../../src/queues/run-job.js';
import { contentOf, deliveryKey } from '../../src/request/key.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { ofAnyShop } from './any-shop.js';

/** A queue of a test's own. */
export interface Engine {
  readonly name: string;
  readonly queue: HandOff;
  /** The store of the same engine. */
  readonly store: IdempotencyStore;
  /** Has its deliveries processed, until {@link close}. */
  work(receiver: Dispatching): Promise<void>;
  /** How many jobs there are, in whichever state. */
  count(): Promise<number>;
  /** How many jobs are done. */
  countDone(): Promise<number>;
  /** Puts in a job that is no delivery: whatever has write access may. */
  addRubbish(data?: object): Promise<void>;
  /** Kills its server and starts it again. */
  crash(): Promise<void>;
  close(): Promise<void>;
}

export interface EngineOptions {
  /** How often a job is tried, in quick succession. */
  readonly attempts: number;
  /** After how long a job is taken from a worker, where the engine has it so. */
  readonly expireInSeconds?: number;
}

export const LONG_MS = 30_000;
/** A machine may stall for a while. */
export const soon = { timeout: 20_000, interval: 20 };

/**
 * What every queue has to do, run against the real thing.
 *
 * @param makeDown - A queue whose server is down.
 */
export function describeQueue(
  name: string,
  make: (options: EngineOptions) => Promise<Engine>,
  makeDown: () => Promise<{ readonly queue: HandOff; close(): Promise<void> }>,
) {
  describe(`the ${name} queue`, () => {
    const engines: Engine[] = [];
    afterEach(async () => {
      for (const engine of engines.splice(0)) await engine.close();
    });
    async function open(attempts = 3): Promise<Engine> {
      const engine = await make({ attempts });
      engines.push(engine);
      return engine;
    }

    test('makes one job of a delivery, however often it is sent', async () => {
      const { queue, count } = await open();
      const receiver = newReceiver({ queue });
      for (let copy = 0; copy < 2; copy++) {
        expect(await deliver(receiver, paidOrder())).toMatchObject({
          status: 200,
          outcome: 'queued',
        });
      }
      expect(await count()).toBe(1);
    });

    test('makes one job of twenty copies that come at once', async () => {
      const { queue, count } = await open();
      const delivery = newDelivery();
      const jobs = await Promise.all(Array.from({ length: 20 }, () => enqueue(queue, delivery)));
      expect(new Set(jobs.map(({ id }) => id)).size).toBe(1);
      expect(await count()).toBe(1);
    });

    test('has the handlers of a delivery run once', async () => {
      const { queue, store, work, countDone } = await open();
      const handler = vi.fn();
      await work(newReceiver({ store }).on('order:paid', handler));
      const delivery = newDelivery();
      await Promise.all(Array.from({ length: 5 }, () => enqueue(queue, delivery)));
      await vi.waitUntil(async () => (await countDone()) === 1, soon);
      await enqueue(queue, delivery);
      expect(await countDone()).toBe(1);
      expect(handler).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ id: delivery.id, scope: delivery.scope, source: 'queue' }),
      );
    });

    test('has many deliveries processed, each once', { timeout: LONG_MS }, async () => {
      const { queue, store, work, countDone } = await open();
      const handled: string[] = [];
      await work(newReceiver({ store }).on('order:paid', ({ key }) => void handled.push(key)));
      const deliveries = Array.from({ length: 30 }, () => newDelivery());
      await Promise.all(deliveries.map((delivery) => enqueue(queue, delivery)));
      await vi.waitUntil(async () => (await countDone()) === 30, soon);
      expect(handled.sort()).toEqual(deliveries.map(({ key }) => key).sort());
    });

    test('has a delivery that failed tried again', async () => {
      const { queue, store, work, countDone } = await open();
      const handler = vi.fn(async () => {});
      handler.mockRejectedValueOnce(new Error('for once'));
      await work(newReceiver({ store }).on('order:paid', handler));
      await enqueue(queue, newDelivery());
      await vi.waitUntil(async () => (await countDone()) === 1, soon);
      expect(handler).toHaveBeenCalledTimes(2);
    });

    test('has what fails for the last time parked, and processed again once it is redriven', async () => {
      const { queue, store, work } = await open(2);
      const handler = vi.fn(async () => {});
      for (let attempt = 1; attempt <= 3; attempt++) {
        handler.mockRejectedValueOnce(new Error(`for the ${attempt}. time`));
      }
      const outcomes: string[] = [];
      const onOutcome = ({ outcome }: { outcome: string }) => void outcomes.push(outcome);
      await work(newReceiver({ store, hooks: { onOutcome } }).on('order:paid', handler));
      const delivery = newDelivery();
      const { scope } = delivery;
      const listDead = () => store.list({ state: 'dead', scope, limit: 10 });
      await enqueue(queue, delivery);
      await vi.waitUntil(async () => (await listDead()).length === 1, soon);
      expect(handler).toHaveBeenCalledTimes(2);

      // At once: the queue may not know by now that the attempt has ended.
      const web = newReceiver({ queue, store, scope });
      const [dead] = await listDead();
      if (!dead) throw new Error('It is not listed any more.');
      expect(dead).toMatchObject({ key: delivery.key, error: expect.stringContaining('2. time') });
      expect(await web.redrive(dead)).toMatchObject({ outcome: 'queued' });
      // With as many attempts as at first, of which it needs two.
      await vi.waitUntil(() => outcomes.length === 4, soon);
      expect(outcomes).toEqual(['failed', 'parked', 'failed', 'handled']);
      expect(await listDead()).toEqual([]);
    });

    test('has a delivery that is redriven while its last attempt ends processed again', async () => {
      const { queue, work, countDone } = await open(1);
      let end = () => {};
      const dispatch = vi.fn<Dispatching['dispatch']>(async () => ({
        outcome: 'handled',
        ran: [],
      }));
      dispatch.mockImplementationOnce(async () => {
        await new Promise<void>((resolve) => {
          end = resolve;
        });
        return { outcome: 'parked', ran: [] };
      });
      await work({ dispatch });
      const delivery = newDelivery();
      await enqueue(queue, delivery);
      await vi.waitUntil(() => dispatch.mock.calls.length === 1, soon);
      const redriven = redrive(queue, delivery);
      // Most often by then, it has seen that the job is active.
      await Promise.race([redriven, new Promise((resolve) => setTimeout(resolve, 300))]);
      end();
      await redriven;
      await vi.waitUntil(() => dispatch.mock.calls.length === 2, soon);
      await vi.waitUntil(async () => (await countDone()) === 1, soon);
    });

    test('keeps what is being processed elsewhere, until it is not', {
      timeout: LONG_MS,
    }, async () => {
      const { queue, store, work } = await open(1);
      const delivery = newDelivery();
      const claim = await store.claim(delivery, {
        owner: 'elsewhere',
        leaseMs: 10_000,
        keepMs: 60_000,
        maxCrashes: 5,
      });
      const handler = vi.fn();
      const outcomes: string[] = [];
      const onOutcome = ({ outcome }: { outcome: string }) => void outcomes.push(outcome);
      await work(newReceiver({ store, hooks: { onOutcome } }).on('order:paid', handler));
      await enqueue(queue, delivery);
      await vi.waitUntil(() => outcomes.length > 0, soon);
      expect(outcomes).toEqual(['busy']);
      if (claim.state === 'acquired') await store.release(delivery.key, claim.fence);
      await vi.waitUntil(() => handler.mock.calls.length === 1, soon);
    });

    test('keeps what comes while the store is down', { timeout: LONG_MS }, async () => {
      const { queue, store, work } = await open(1);
      let isDown = true;
      const shaky = durableStore(
        (inner) => ({
          claim: (...args) =>
            isDown ? Promise.reject(new Error('it is down')) : inner.claim(...args),
        }),
        store,
      );
      const handler = vi.fn();
      const onOutcome = vi.fn();
      await work(newReceiver({ store: shaky, hooks: { onOutcome } }).on('order:paid', handler));
      await enqueue(queue, newDelivery());
      await vi.waitUntil(() => onOutcome.mock.calls.length > 0, soon);
      expect(onOutcome.mock.calls[0]?.[0]).toMatchObject({ outcome: 'unavailable' });
      isDown = false;
      await vi.waitUntil(() => handler.mock.calls.length === 1, soon);
    });

    test.each<[string, Partial<SealedDelivery>]>([
      ['bytes of all values', { body: Uint8Array.from({ length: 256 }, (_, byte) => byte) }],
      ['no bytes', { body: new Uint8Array() }],
      ['JSON that is all but empty', { body: new TextEncoder().encode('{}') }],
      ['a mebibyte', { body: new Uint8Array(randomBytes(1024 * 1024)) }],
      ['names in other scripts', { id: 'whl_été_日本_🎁', event: 'ordre:payé', scope: '店' }],
      [
        'names that no database takes',
        { id: 'whl_\0', event: 'a\ud800b', scope: '\udfff\\u0000"' },
      ],
      ['a trace', { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }],
    ])('carries %s as they were', async (_, parts) => {
      const { queue, work } = await open();
      const delivery = newDelivery(parts);
      const dispatch = vi.fn<Dispatching['dispatch']>(async () => ({
        outcome: 'handled',
        ran: [],
      }));
      await work({ dispatch });
      await enqueue(queue, delivery);
      await vi.waitUntil(() => dispatch.mock.calls.length > 0, soon);
      const [carried, options] = dispatch.mock.calls[0] ?? [];
      expect(withHash(carried)).toEqual(withHash(delivery));
      expect(options).toEqual({ lastAttempt: false });
    });

    test('carries the trace of the web process to that of the worker', async () => {
      const { queue, work } = await open();
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const telemetry = {
        traceparent: () => traceparent,
        delivery: (_: unknown, run: () => Promise<unknown>) => run(),
        handler: (_: unknown, run: () => Promise<unknown>) => run(),
        rejected() {},
        failed() {},
      };
      const dispatch = vi.fn<Dispatching['dispatch']>(async () => ({
        outcome: 'handled',
        ran: [],
      }));
      await work({ dispatch });
      await deliver(newReceiver({ queue, telemetry }), paidOrder());
      await vi.waitUntil(() => dispatch.mock.calls.length > 0, soon);
      expect(dispatch.mock.calls[0]?.[0]).toMatchObject({ traceparent });
    });

    test('is not stopped by a worker that throws something of its own', async () => {
      const { queue, work, countDone } = await open();
      const dispatch = vi.fn<Dispatching['dispatch']>(async () => ({
        outcome: 'handled',
        ran: [],
      }));
      dispatch.mockRejectedValueOnce(new Error('\0\ud800'));
      await work({ dispatch });
      await enqueue(queue, newDelivery());
      await vi.waitUntil(async () => (await countDone()) === 1, soon);
      expect(dispatch).toHaveBeenCalledTimes(2);
    });

    test('keeps a job that is no delivery, and goes on', async () => {
      const { queue, work, store, count, countDone, addRubbish } = await open();
      const handler = vi.fn();
      await addRubbish();
      await work(newReceiver({ store }).on('order:paid', handler));
      await enqueue(queue, newDelivery());
      await vi.waitUntil(async () => (await countDone()) === 1, soon);
      expect(handler).toHaveBeenCalledOnce();
      expect(await count()).toBeGreaterThanOrEqual(2);
    });

    test.each([
      ['that is no key', 'zz'.repeat(32)],
      ["of one of the store's own names", 'open'],
      ['in upper case', 'AB'.repeat(32)],
    ])('is done with a job whose key is one %s', async (_, key) => {
      const { queue, work, store, countDone, addRubbish } = await open();
      const dispatch = vi.fn<Dispatching['dispatch']>();
      const { body, ...forged } = newDelivery();
      await addRubbish({ v: 1, ...forged, body: Buffer.from(body).toString('base64'), key });
      await work({ dispatch });
      const receiver = newReceiver({ store });
      dispatch.mockImplementation((...given) => receiver.dispatch(...given));
      await enqueue(queue, newDelivery());
      await vi.waitUntil(async () => (await countDone()) === 1, soon);
      // Only the other one has got as far as the receiver.
      expect(dispatch).toHaveBeenCalledOnce();
    });

    test('keeps what was put in by another hand for a person, and does not run it', async () => {
      const { queue, store, work, countDone } = await open();
      const handler = vi.fn();
      const hooks = { onError() {} };
      const durable = durableStore(() => ({}), store);
      await work(newReceiver({ store: durable, hooks }).on('order:paid', handler));
      const { proof, ...forged } = newDelivery();
      await enqueue(queue, forged);
      await enqueue(queue, { ...newDelivery(), body: forged.body.toReversed() });
      await vi.waitUntil(async () => (await countDone()) === 2, soon);
      expect(handler).not.toHaveBeenCalled();
      const kept = await store.list({ state: 'dead', scope: forged.scope, limit: 9 });
      expect(kept.map(({ error }) => error)).toEqual([
        expect.stringMatching(/without a signature/),
      ]);
    });

    test('has kept a delivery by the time that it says so', { timeout: LONG_MS }, async () => {
      const { queue, work, crash } = await open();
      const delivery = newDelivery();
      await enqueue(queue, delivery);
      await crash();
      const dispatch = vi.fn<Dispatching['dispatch']>(async () => ({
        outcome: 'handled',
        ran: [],
      }));
      await work({ dispatch });
      await vi.waitUntil(() => dispatch.mock.calls.length > 0, soon);
      expect(dispatch.mock.calls[0]?.[0]).toMatchObject({ key: delivery.key });
    });

    test('has its sender come back while it is down', { timeout: LONG_MS }, async () => {
      const { queue, close } = await makeDown();
      try {
        const startedAt = performance.now();
        const reply = await deliver(newReceiver({ queue }), paidOrder());
        expect(reply).toMatchObject({ status: 503, outcome: 'unavailable' });
        expect(performance.now() - startedAt).toBeLessThan(12_000);
      } finally {
        await close();
      }
    });
  });
}

/** Long bodies are slow to compare. */
function withHash(delivery: SealedDelivery | undefined) {
  const body = delivery && createHash('sha256').update(delivery.body).digest('hex');
  return { traceparent: undefined, ...delivery, body };
}

type Options = Omit<Parameters<typeof createReceiver>[0], 'secret' | 'schemas'>;

/** A receiver that says nothing of what goes wrong. */
export function newReceiver({ hooks, ...options }: Options) {
  const secret = options.scope === undefined ? ofAnyShop : SECRET;
  return createReceiver({ secret, ...options, hooks: { onError() {}, ...hooks } });
}

export function newDelivery(parts: Partial<SealedDelivery> = {}): SealedDelivery {
  const name = randomBytes(4).toString('hex');
  const sealed = {
    scope: `shop-${name}`,
    id: `whl_${name}`,
    event: 'order:paid',
    receivedAt: 1_790_000_000_000,
    body: new TextEncoder().encode(JSON.stringify(paidOrder())),
    ...parts,
  };
  const headers = { 'x-shop': sealed.scope };
  const content = contentOf(paidOrder(), sealed.body);
  return {
    key: deliveryKey('delivery', { ...sealed, content }),
    proof: JSON.stringify({ signature: sign(sealed.body, SECRET), url: '/webhooks', headers }),
    ...sealed,
  };
}

export function enqueue(queue: HandOff<unknown>, delivery: SealedDelivery) {
  return queue.enqueue(delivery, { key: delivery.key, signal: new AbortController().signal });
}

export function redrive(queue: HandOff<unknown>, delivery: SealedDelivery) {
  if (!queue.redrive) throw new Error('This queue redrives nothing.');
  return queue.redrive(delivery, { key: delivery.key, signal: new AbortController().signal });
}
