import { createReceiver, type Hooks, type ReceiverOptions } from 'storefront-webhooks';
import { type Recovery, reconcile } from 'storefront-webhooks/recovery';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ENDPOINT,
  type Entry,
  entry,
  live,
  NOW,
  type Provided,
  paid,
  provider,
  recoverFrom,
  URL,
} from './provider.js';

afterEach(() => void vi.useRealTimers());

/** A shop that records its deliveries and its errors. */
function open(options: Partial<Omit<ReceiverOptions, 'events'>> = {}, events = {}) {
  const delivered: string[] = [];
  const told: string[] = [];
  const onError: Hooks['onError'] = (error, { id }) => void told.push(`${id}: ${error}`);
  const hooks: Hooks = { onError, onRejected() {} };
  const settings = { secret: SECRET, store: durableStore(), hooks, ...options, events };
  const receiver = createReceiver<Record<never, never>>(settings).on(
    'order:paid',
    ({ payload: { id } }) => void delivered.push(id),
    { name: 'deliver', oncePer: ({ id }) => id },
  );
  return { receiver, delivered, told };
}

const orders = ({ deliveries }: Recovery) =>
  deliveries.map(({ recordId, outcome }) => `${recordId} ${outcome}`);

function throwAtTwo<Id>(id: Id): Id {
  if (id === 'ord_2') throw new Error('boom');
  return id;
}

const three = () => [entry(1), entry(2), entry(3)];

describe('a bad delivery does not block the others, if', () => {
  const schema = {
    '~standard': {
      ...{ version: 1, vendor: 'test' },
      validate(value: { id: string }) {
        throwAtTwo(value.id);
        return { value };
      },
    },
  };
  test.each([
    ['keyBy throws', open({ keyBy: ({ id }) => `${throwAtTwo(id)}` })],
    ['a schema throws', open({}, { 'order:paid': schema })],
  ])('%s', async (_, shop) => {
    const recovery = await recoverFrom({ logs: three() }, shop);
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_2 failed', 'ord_3 handled']);
    expect(recovery.complete).toBe(false);
    expect(shop.delivered).toEqual(['ord_1', 'ord_3']);
    expect(shop.told).toEqual(['whl_2: Error: boom']);
  });

  test.each([
    [
      'unwrap',
      open({
        unwrap: (payload) => ({
          event: 'order:paid',
          payload: { ...payload, id: throwAtTwo(payload.id) },
        }),
      }),
    ],
    [
      'the secret function',
      open({
        secret: ({ url = '' }) => ({
          secret: SECRET,
          scope: throwAtTwo(url.replace('/webhooks?', '')),
        }),
      }),
    ],
  ])('%s throws while the log is read, and onError gets the error', async (_, shop) => {
    const logs = three().map((one) => ({
      ...one,
      url: `${URL}?${(one.payload as { id: string }).id}`,
    }));
    const url = logs.map((one) => one.url).filter((one) => !one.endsWith('ord_2'));
    const endpoints = url.map((one) => ({ ...ENDPOINT, id: one, url: one }));
    const recovery = await recoverFrom({ logs, endpoints }, shop, { url });
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_3 handled']);
    expect([recovery.log.unreadable, recovery.complete]).toEqual([1, false]);
    expect(new Set(shop.told)).toEqual(new Set(['whl_2: Error: boom']));
  });

  test('its body is nested deeper than the stack, and it is delivered', async () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`);
    const shop = open();
    // The provider of these tests cannot write such a body, so its client returns the parsed one.
    const one = entry(2, { payload: { ...paid(2), custom: deep } });
    const client = provider({ logs: [entry(1), entry(3)] });
    const list = client.webhookLogs.list.bind(client.webhookLogs);
    const get = client.webhookLogs.get.bind(client.webhookLogs);
    Object.assign(client.webhookLogs, {
      list: async () => {
        const page = await list({ page: 1 });
        return { ...page, items: [...page.items, one] };
      },
      get: async (id: string) => (id === 'whl_2' ? one : get(id)),
    });
    const recovery = await recoverFrom({ logs: [] }, shop, { client });
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_2 handled', 'ord_3 handled']);
    expect(shop.delivered).toEqual(['ord_1', 'ord_2', 'ord_3']);
  });

  test('the provider returns an invalid entry for it', async () => {
    const shop = open();
    const onRequest = (path: string) =>
      path.endsWith('whl_2') ? Response.json({ ...entry(2), payload: null }) : undefined;
    const recovery = await recoverFrom({ logs: three(), onRequest }, shop);
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_2 failed', 'ord_3 handled']);
    expect(shop.told).toEqual([expect.stringMatching(/^whl_2: ApiError: .*payload/)]);
  });

  test('the provider returns another entry for it', async () => {
    const shop = open();
    const onRequest = (path: string) =>
      path.endsWith('whl_2') ? Response.json(entry(3)) : undefined;
    const recovery = await recoverFrom({ logs: three(), onRequest }, shop);
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_2 gone', 'ord_3 handled']);
    expect(recovery.complete).toBe(false);
  });

  /** Simulates a provider that always fails at these entries. */
  function failingAt(...ids: string[]): Provided {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const isOne = (path: string) => ids.some((id) => path.endsWith(id));
    return {
      logs: [...three(), entry(4)],
      onRequest: (path) =>
        isOne(path) ? Response.json({ message: 'Oh.' }, { status: 500 }) : undefined,
    };
  }
  const HOUR_MS = 60 * 60_000;

  test('the provider fails at it for minutes', async () => {
    const shop = open();
    const recovering = recoverFrom(failingAt('whl_1', 'whl_2'), shop);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(orders(await recovering)).toEqual([
      'ord_1 failed',
      'ord_2 failed',
      'ord_3 handled',
      'ord_4 handled',
    ]);
    expect(shop.told).toEqual([
      expect.stringMatching(/^whl_1: ApiError: webhookLogs.get: Oh\./),
      expect.stringMatching(/^whl_2: ApiError: webhookLogs.get: Oh\./),
    ]);
  });

  test('but a provider that fails at all of them is down', async () => {
    const provided = failingAt('whl_2');
    const { onRequest } = provided;
    let isDown = false;
    provided.onRequest = (...request) => {
      const [path] = request;
      isDown ||= path.endsWith('whl_2');
      return isDown ? Response.json({ message: 'Oh.' }, { status: 500 }) : onRequest?.(...request);
    };
    const recovering = recoverFrom(provided, open());
    const ended = expect(recovering).rejects.toMatchObject({ code: 'server_failed' });
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    await ended;
  });

  test.each([400, 403, 410])('the provider answers %i to it', async (status) => {
    const shop = open();
    const onRequest = (path: string) =>
      path.endsWith('whl_2') ? Response.json({ message: 'No.' }, { status }) : undefined;
    const recovery = await recoverFrom({ logs: three(), onRequest }, shop);
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_2 failed', 'ord_3 handled']);
  });

  test.each(['.', '..', '\ud800'])('its id is %j, which no path can contain', async (id) => {
    const shop = open();
    const logs = [entry(1), { ...entry(2), id }, entry(3)];
    const recovery = await recoverFrom({ logs }, shop);
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_2 failed', 'ord_3 handled']);
  });

  test('the store rejects it, but accepts the others', async () => {
    skipWaits();
    const store = durableStore((whole) => ({
      claim: async (delivery, options) => {
        if (delivery.id === 'whl_2') throw new Error('too odd');
        return whole.claim(delivery, options);
      },
    }));
    const shop = open({ store });
    const recovery = await recoverFrom({ logs: three() }, shop);
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_2 unavailable', 'ord_3 handled']);
  });

  test('its log entry has no address; the entry is counted', async () => {
    const shop = open();
    const logs = [entry(1), entry(2, { url: null }), entry(3)];
    const recovery = await recoverFrom({ logs }, shop);
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_3 handled']);
    expect([recovery.log.unreadable, recovery.complete]).toEqual([1, false]);
  });

  test('its time is invalid, which does not end the log', async () => {
    const shop = open();
    const logs = Array.from({ length: 120 }, (_, at) =>
      entry(120 - at, at === 49 ? { created_at: '0001-01-01T00:00:00Z' } : {}),
    );
    await recoverFrom({ logs }, shop);
    expect(shop.delivered.length).toBeGreaterThanOrEqual(119);
  });

  test('its entry has changed to another order', async () => {
    const shop = open();
    const onRequest = (path: string) =>
      path.endsWith('whl_2') ? Response.json(entry(2, { payload: paid(3) })) : undefined;
    const recovery = await recoverFrom({ logs: three(), onRequest }, shop);
    expect(orders(recovery)).toEqual(['ord_1 handled', 'ord_2 gone', 'ord_3 handled']);
  });
});

describe('invalid orders', () => {
  const none = [null, 'order', paid(5, { id: 5 }), paid(6, { email: null })] as unknown as Entry[];

  test('are counted by recover, which is then incomplete', async () => {
    const shop = open();
    const logs = [await live(shop)];
    const provided = { logs, orders: [...none, paid(1)], endpoints: [ENDPOINT] };
    const recovery = await recoverFrom(provided, shop, { orders: true });
    expect(orders(recovery)).toEqual(['ord_1 handled']);
    expect([recovery.log.unreadable, recovery.complete]).toEqual([4, false]);
  });

  test('are counted by reconcile, which reports them on a schedule', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const lines: string[] = [];
    vi.spyOn(console, 'error').mockImplementation((line) => {
      if (`${line}`.includes('reconcile:')) lines.push(line);
    });
    const client = provider({ logs: [], orders: [...none, paid(1, { currency: 5 })] });
    const options = { receiver: open().receiver, client, url: URL, delivered: () => ['ord_1'] };
    const fast = { perSecond: Number.POSITIVE_INFINITY };
    const { unreadable, orders, findings } = await reconcile({ ...options, ...fast, now: NOW });
    expect([unreadable, orders, findings]).toEqual([4, 1, []]);
    const since = new Date(0);
    const schedule = reconcile.every('1s', { ...options, ...fast, since });
    vi.advanceTimersByTime(1_000);
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    await schedule.stop();
    vi.restoreAllMocks();
    expect(lines[0]).toMatch(
      /reconcile: 4 of the provider's orders could not be read.*#reconciled/,
    );
  });
});
