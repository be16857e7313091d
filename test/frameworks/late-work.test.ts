import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Elysia } from 'elysia';
import express from 'express';
import { Hono } from 'hono';
import {
  createReceiver,
  type IdempotencyStore,
  memoryStore,
  type Receiver,
} from 'storefront-webhooks';
import { toElysia } from 'storefront-webhooks/elysia';
import { toExpress } from 'storefront-webhooks/express';
import { toFetch } from 'storefront-webhooks/fetch';
import { toHono } from 'storefront-webhooks/hono';
import { type LambdaContext, toLambda } from 'storefront-webhooks/lambda';
import { toNext } from 'storefront-webhooks/next';
import { toNextPages } from 'storefront-webhooks/next-pages';
import { toNodeHandler } from 'storefront-webhooks/node';
import { toWorker } from 'storefront-webhooks/workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { SECRET } from '../adapters/apps/inside/contract.js';
import { orderOf, webhook } from '../adapters/corpus.js';
import { durableStore } from '../support/durable.js';
import { gate } from '../support/gate.js';

const order = orderOf(1_000);
const headersOf = (id: string, event?: string) =>
  Object.fromEntries(webhook(order, id, event).map(([name, value]) => [name, String(value)]));

/** A store that does not accept the end of a delivery for so many calls. */
function awayFor(calls: number, store = memoryStore()): IdempotencyStore {
  let left = calls;
  const complete: IdempotencyStore['complete'] = async (...args) => {
    left -= 1;
    if (left >= 0) throw new Error('it restarts');
    return store.complete(...args);
  };
  return forward(store, { complete });
}

/** A store that accepts the ends of deliveries, and none of an effect, which has no body. */
function awayForEffects(): IdempotencyStore {
  const store = memoryStore();
  const effects = new Set<string>();
  const claim: IdempotencyStore['claim'] = async (delivery, lease) => {
    if (!delivery.body) effects.add(delivery.key);
    return store.claim(delivery, lease);
  };
  const complete: IdempotencyStore['complete'] = async (key, ...args) => {
    if (effects.has(key)) throw new Error('its shard restarts');
    return store.complete(key, ...args);
  };
  return forward(store, { claim, complete });
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 50));

/** Advances the fake timers in steps, because the work between two timers takes real time. */
async function advanceUntil(isReached: () => boolean, longestMs: number): Promise<void> {
  for (let ms = 0; ms < longestMs && !isReached(); ms += 250) {
    await vi.advanceTimersByTimeAsync(250);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Makes a receiver with work that lasts until `over` resolves, and calls `onDone` at its end. */
type MakeReceiver = (onDone: () => void, over?: () => Promise<unknown>) => Receiver;

/** Each kind of work that no response waits for. */
const KINDS: readonly (readonly [string, MakeReceiver])[] = [
  [
    'the record of a delivery that the store did not accept at first',
    (onDone, over = soon) => {
      const store = awayFor(3);
      const complete: IdempotencyStore['complete'] = async (...args) => {
        const isHeld = await store.complete(...args);
        await over();
        onDone();
        return isHeld;
      };
      const options = { secret: SECRET, store: forward(store, { complete }) };
      return createReceiver(options).on('*', () => {});
    },
  ],
  [
    'a hook that returns a promise',
    (onDone, over = soon) => {
      const hooks = { onOutcome: () => over().then(onDone) };
      return createReceiver({ secret: SECRET, store: memoryStore(), hooks }).on('*', () => {});
    },
  ],
  [
    'a hook about a late record',
    (onDone, over = soon) => {
      let tries = 0;
      const lose = async () => {
        tries += 1;
        if (tries < 4) throw new Error('it restarts');
        return false;
      };
      const hooks = { onError: () => over().then(onDone) };
      const store = forward(memoryStore(), { complete: lose });
      return createReceiver({ secret: SECRET, store, hooks }).on('*', () => {});
    },
  ],
  [
    'a purge',
    (onDone, over = soon) => {
      const purge = async () => {
        await over();
        onDone();
        return 0;
      };
      const store = durableStore(() => ({ purge }));
      return createReceiver({ secret: SECRET, store }).on('*', () => {});
    },
  ],
];

type Send = (headers: Record<string, string>) => Promise<number>;

/** A platform, whose method throws if it is called without its object. */
class Host {
  readonly #waited: Promise<unknown>[] = [];
  waitUntil(promise: Promise<unknown>) {
    this.#waited.push(promise);
  }
  ended() {
    return Promise.all(this.#waited);
  }
}

type Fetch = (request: Request) => Response | Promise<Response>;

const byFetch =
  (fetch: Fetch): Send =>
  async (headers) =>
    (
      await fetch(
        new Request('http://localhost/', { method: 'POST', headers, body: order as never }),
      )
    ).status;

const byNode =
  (listener: RequestListener): Send =>
  async (headers) => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const init = { method: 'POST', headers, body: order as never };
    const { status } = await fetch(`http://127.0.0.1:${port}/`, init);
    server.closeAllConnections();
    server.close();
    return status;
  };

const byLambda =
  (receiver: Receiver, context?: Partial<LambdaContext>): Send =>
  async (headers) => {
    const event = { httpMethod: 'POST', path: '/', headers, body: order.toString() };
    return (await toLambda(receiver)(event, context)).statusCode;
  };

const inTime = (ms: number): LambdaContext => ({ getRemainingTimeInMillis: () => ms });

const hono = (receiver: Receiver) => new Hono().post('/', toHono(receiver));

describe.concurrent.each(KINDS)('%s', (_, makeReceiver) => {
  test.each<[string, (receiver: Receiver, host: Host) => Send]>([
    [
      'toWorker',
      (receiver, host) => byFetch((request) => toWorker(receiver).fetch(request, {}, host)),
    ],
    [
      'toHono on Workers',
      (receiver, host) => {
        const context = Object.assign(host, { passThroughOnException() {}, props: {} });
        return byFetch((request) => hono(receiver).fetch(request, {}, context));
      },
    ],
    [
      'toHono on Netlify',
      (receiver, host) => byFetch((request) => hono(receiver).fetch(request, { context: host })),
    ],
    [
      'toElysia',
      (receiver, host) =>
        byFetch((request) =>
          new Elysia()
            .decorate('waitUntil', host.waitUntil.bind(host))
            .post('/', toElysia(receiver), { parse: 'none' })
            .handle(request),
        ),
    ],
    ['toFetch', (receiver, host) => byFetch((request) => toFetch(receiver)(request, host))],
  ])('is handed over to the waitUntil of the platform by %s', async (_, mount) => {
    const onDone = vi.fn();
    const { open, opened } = gate();
    const host = new Host();
    const receiver = makeReceiver(onDone, () => opened);
    const send = mount(receiver, host);
    expect(await send(headersOf('whl_1'))).toBe(200);
    expect(onDone).not.toHaveBeenCalled();
    open();
    await host.ended();
    expect(onDone).toHaveBeenCalledOnce();
  });

  test.each<[string, (receiver: Receiver) => Send]>([
    ['toLambda', (receiver) => byLambda(receiver, inTime(20_000))],
    ['toLambda without a context', (receiver) => byLambda(receiver)],
    [
      'toHono on Lambda',
      (receiver) =>
        byFetch((request) => hono(receiver).fetch(request, { lambdaContext: inTime(20_000) })),
    ],
    [
      'toHono on Lambda, streaming',
      (receiver) =>
        byFetch((request) => hono(receiver).fetch(request, { context: inTime(20_000) })),
    ],
    ['toNext without after()', (receiver) => byFetch(toNext(receiver))],
    ['toNextPages', (receiver) => byNode(toNextPages(receiver))],
    [
      'toWorker without a context',
      (receiver) => byFetch((request) => toWorker(receiver).fetch(request, {})),
    ],
  ])('ends before the response of %s', async (_, mount) => {
    const onDone = vi.fn();
    expect(await mount(makeReceiver(onDone))(headersOf('whl_1'))).toBe(200);
    expect(onDone).toHaveBeenCalledOnce();
  });

  test.each<[string, (receiver: Receiver) => Send]>([
    ['toNodeHandler', (receiver) => byNode(toNodeHandler(receiver))],
    ['toExpress', (receiver) => byNode(express().post('/', toExpress(receiver)))],
    ['toFetch', (receiver) => byFetch(toFetch(receiver))],
    [
      'toFetch, with the second argument of Bun',
      (receiver) => byFetch((request) => toFetch(receiver)(request, { requestIP() {} })),
    ],
    ['toHono', (receiver) => byFetch(hono(receiver).fetch)],
  ])('does not delay the response of %s, whose process goes on', async (_, mount) => {
    const onDone = vi.fn();
    const { open, opened } = gate();
    expect(await mount(makeReceiver(onDone, () => opened))(headersOf('whl_1'))).toBe(200);
    expect(onDone).not.toHaveBeenCalled();
    open();
    await vi.waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  });
});

describe.concurrent('toLambda, if its invocation ends before the store has the record,', () => {
  const oncePer = { name: 'deliver', oncePer: ({ id }: { id: string }) => id };
  const away = () => createReceiver({ secret: SECRET, store: awayFor(Number.POSITIVE_INFINITY) });

  test.each<[string, number, (receiver: Receiver) => Receiver]>([
    ['503 for handlers with oncePer', 503, (receiver) => receiver.onPaid(() => {})],
    ['503 for one with oncePer', 503, (receiver) => receiver.on('order:paid', () => {}, oncePer)],
    [
      '200 for a plain handler, which a retry would run again',
      200,
      (receiver) => receiver.on('order:paid', () => {}),
    ],
    [
      '200 for a plain handler beside one with oncePer',
      200,
      (receiver) => receiver.onPaid(() => {}).on('order:*', () => {}),
    ],
    [
      '500 for a handler that failed',
      500,
      (receiver) =>
        receiver.onPaid(() => {
          throw new Error('no');
        }),
    ],
  ])('answers %s', async (_, status, register) => {
    const receiver = register(away());
    const left = inTime(700);
    expect(await byLambda(receiver, left)(headersOf('whl_1'))).toBe(status);
    await receiver.close({ timeoutMs: 0 });
  });

  test.each<[string, number, (receiver: Receiver) => Receiver]>([
    ['503 for onPaid', 503, (receiver) => receiver.onPaid(() => {})],
    [
      '503 for onPaid beside another effect',
      503,
      (receiver) => receiver.onPaid(() => {}).on('order:paid', () => {}, oncePer),
    ],
    [
      '200 for onPaid beside a plain handler',
      200,
      (receiver) => receiver.onPaid(() => {}).on('order:*', () => {}),
    ],
  ])('although it has that of the delivery, answers %s', async (_, status, register) => {
    const receiver = register(createReceiver({ secret: SECRET, store: awayForEffects() }));
    expect(await byLambda(receiver, inTime(700))(headersOf('whl_1'))).toBe(status);
    await receiver.close({ timeoutMs: 0 });
  });

  test('answers 503 without the receipt of a handled delivery', async () => {
    const receiver = away().onPaid(() => {});
    const event = { httpMethod: 'POST', headers: headersOf('whl_1'), body: order.toString() };
    const { headers, body } = await toLambda(receiver)(event, inTime(700));
    expect(headers).toMatchObject({ 'retry-after': '1' });
    expect(`${JSON.stringify(headers)} ${body}`).not.toMatch(/handled\.|receipt/);
    await receiver.close({ timeoutMs: 0 });
  });

  test('answers as usual if only a hook is left', async () => {
    const hooks = { onOutcome: () => new Promise(() => {}) };
    const receiver = createReceiver({ secret: SECRET, store: memoryStore(), hooks });
    receiver.onPaid(() => {});
    expect(await byLambda(receiver, inTime(700))(headersOf('whl_1'))).toBe(200);
  });

  test('finishes the record first in its next invocation, and delivers once', async () => {
    const delivered = vi.fn();
    // Three tries of each record, and one or two later ones.
    const receiver = createReceiver({ secret: SECRET, store: awayFor(8) }).onPaid(delivered);
    const handler = toLambda(receiver);
    const invoke = async (id: string, event: string) => {
      const sent = { httpMethod: 'POST', headers: headersOf(id, event), body: order.toString() };
      return (await handler(sent, inTime(600))).statusCode;
    };
    expect(await invoke('whl_1', 'order:paid')).toBe(503);
    expect(await invoke('whl_2', 'order:updated')).toBe(200);
    expect(await invoke('whl_1', 'order:paid')).toBe(200);
    expect(delivered).toHaveBeenCalledOnce();
  });
});

describe('a platform that may stop with each response', () => {
  afterEach(() => void vi.useRealTimers());

  test.each<[string, (receiver: Receiver) => Send]>([
    [
      'toLambda',
      (receiver) => {
        const handler = toLambda(receiver);
        return async (headers) => {
          const event = { httpMethod: 'POST', path: '/', headers, body: order.toString() };
          return (await handler(event, inTime(600))).statusCode;
        };
      },
    ],
    [
      'toHono on Lambda',
      (receiver) => {
        const app = hono(receiver);
        return byFetch((request) => app.fetch(request, { lambdaContext: inTime(600) }));
      },
    ],
    ['toNext without after()', (receiver) => byFetch(toNext(receiver))],
    ['toNextPages', (receiver) => byNode(toNextPages(receiver))],
  ])(
    'begins no further delivery before the record of the last one is finished: %s',
    async (_, mount) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
      const { open, opened } = gate();
      const store = memoryStore();
      let calls = 0;
      const complete: IdempotencyStore['complete'] = async (...args) => {
        calls += 1;
        if (calls <= 3) throw new Error('it restarts');
        await opened;
        return store.complete(...args);
      };
      const handled = vi.fn();
      const receiver = createReceiver({ secret: SECRET, store: forward(store, { complete }) });
      const send = mount(receiver.on('order:paid', () => {}).on('order:updated', handled));
      const first = send(headersOf('whl_1', 'order:paid'));
      await vi.waitUntil(() => calls > 2);
      await vi.advanceTimersByTimeAsync(11_000);
      expect(await first).toBe(200);
      const next = send(headersOf('whl_2', 'order:updated'));
      await soon();
      expect(handled).not.toHaveBeenCalled();
      open();
      expect(await next).toBe(200);
      expect(handled).toHaveBeenCalledOnce();
    },
  );

  test('answers before the deadline of its invocation, in time for the response to leave', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const store = awayFor(Number.POSITIVE_INFINITY);
    const receiver = createReceiver({ secret: SECRET, store }).onPaid(() => {});
    const left = vi.fn(() => 10_000);
    const context = { getRemainingTimeInMillis: left };
    const answered = vi.fn();
    void byLambda(receiver, context)(headersOf('whl_1')).then(answered);
    await advanceUntil(() => left.mock.calls.length > 0, 6_000);
    await advanceUntil(() => answered.mock.calls.length > 0, 9_500);
    expect(answered).toHaveBeenCalledWith(503);
    vi.useRealTimers();
    await receiver.close({ timeoutMs: 0 });
  });

  test('answers others within a short time while a handler never ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    const send = await besideStuck(memoryStore());
    const answered = vi.fn();
    const second = send(headersOf('whl_2', 'order:updated')).then(answered);
    await advanceUntil(() => answered.mock.calls.length > 0, 6_000);
    expect(answered).toHaveBeenCalledWith(200);
    await second;
  });

  test('waits longer for the record of the delivery itself while another handler never ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    const store = memoryStore();
    const [rejected, recorded, answered] = [vi.fn(), vi.fn(), vi.fn()];
    let isDown = true;
    const complete: IdempotencyStore['complete'] = async (...args) => {
      if (isDown) {
        rejected();
        throw new Error('it restarts');
      }
      recorded();
      return store.complete(...args);
    };
    const send = await besideStuck(forward(store, { complete }));
    const second = send(headersOf('whl_2', 'order:updated')).then(answered);
    await advanceUntil(() => rejected.mock.calls.length > 0, 6_000);
    setTimeout(() => {
      isDown = false;
    }, 5_000);
    await advanceUntil(() => answered.mock.calls.length > 0, 15_000);
    await second;
    expect(answered).toHaveBeenCalledWith(200);
    expect(recorded).toHaveBeenCalledBefore(answered);
  });
});

/** A platform on which one response has waited in vain for a handler that never ends. */
async function besideStuck(store: IdempotencyStore): Promise<Send> {
  const onError = vi.fn();
  const receiver = createReceiver({ secret: SECRET, store, timeout: 100, hooks: { onError } })
    .on('order:paid', () => new Promise<void>(() => {}))
    .on('order:updated', () => {});
  const send = byNode(toNextPages(receiver));
  const first = send(headersOf('whl_1', 'order:paid'));
  // The time limit of a handler is measured by the real clock.
  await vi.waitUntil(() => onError.mock.calls.length > 0);
  await advanceUntil(() => false, 11_000);
  expect(await first).toBe(500);
  return send;
}
