import { createReceiver } from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { OUTCOMES } from '../../src/request/outcome.js';
import { writeReceipt } from '../../src/request/receipt.js';
import { skipWaits } from '../support/clock.js';
import { deliver, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { ended } from '../support/patience.js';
import {
  ago,
  answered,
  DAY,
  type Entry,
  entry,
  HOUR,
  live,
  MINUTE,
  openShop,
  type Provided,
  paid,
  provider,
  recoverFrom,
  URL,
} from './provider.js';

describe('a log entry', () => {
  test('with a failed attempt of the receiver counts as missed, although it has a receipt', async () => {
    const store = durableStore();
    const broken = createReceiver({ secret: SECRET, store, hooks: { onError() {} } }).on(
      'order:paid',
      () => Promise.reject(new Error('no keys left')),
    );
    const failed = await answered({ receiver: broken }, entry(1));
    expect([failed.response_code, failed.response]).toEqual([500, expect.stringContaining('v1.')]);
    const shop = openShop({ store });
    await recoverFrom({ logs: [failed] }, shop);
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('with a failed attempt of the receiver counts as missed, even if a proxy changed its status to 200', async () => {
    const store = durableStore();
    let isOpen = false;
    const shop = openShop({ store });
    shop.receiver.on(
      'order:paid',
      () => (isOpen ? undefined : Promise.reject(new Error('closed'))),
      {
        name: 'stamp',
      },
    );
    const failed: Entry = { ...(await answered(shop, entry(1))), response_code: 200 };
    expect(failed.response).toContain('v1.failed.');
    isOpen = true;
    const { deliveries } = await recoverFrom({ logs: [failed] }, shop);
    expect(deliveries).toMatchObject([{ reason: 'foreign', outcome: 'handled' }]);
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('of a delivery without an id header counts as done by the receipt of its content', async () => {
    const shop = openShop();
    const text = JSON.stringify(paid(1));
    const { status, headers, body } = await shop.receiver.receive({
      method: 'POST',
      url: '/webhooks',
      headers: { 'x-service-event': 'order:paid', 'x-service-signature': sign(text, SECRET) },
      body: new TextEncoder().encode(text),
    });
    const answer = { response_code: status, response: body, response_headers: { ...headers } };
    const { log } = await recoverFrom({ logs: [entry(1, answer)] }, shop);
    expect([log.done, shop.delivered]).toEqual([1, ['ord_1']]);
  });

  test.each(OUTCOMES)(
    'with the outcome %s and a status of 200 counts by its outcome',
    async (outcome) => {
      const shop = openShop({ store: durableStore(() => ({ isDone: async () => true })) });
      const answer = await answered(shop, entry(1));
      const key = /v1\.handled\.\d+\.([0-9a-f]{64})/.exec(`${answer.response}`)?.[1] ?? '';
      const response = writeReceipt({ key, id: 'whl_1' }, outcome, SECRET);
      const { log } = await recoverFrom(
        { logs: [entry(1, { response, response_code: 200 })] },
        shop,
      );
      const isBad = ['rejected', 'failed', 'busy', 'unavailable'].includes(outcome);
      expect(log).toMatchObject(isBad ? { foreign: 1, done: 0 } : { foreign: 0, done: 1 });
    },
  );

  test('is found among entries of other addresses', async () => {
    const other = { url: 'https://other.example/webhooks' };
    const logs = [entry(1), entry(2, other), entry(3), entry(4, other)];
    const shop = openShop();
    await recoverFrom({ logs }, shop);
    expect(shop.delivered).toEqual(['ord_1', 'ord_3']);
  });

  test('of an invalid payload counts as done if onInvalid accepted it, even if the log encodes it differently', async () => {
    const kept: unknown[] = [];
    const store = durableStore();
    const receiver = createReceiver({ secret: SECRET, store }).onInvalid(({ id }) => {
      kept.push(id);
    });
    const payload = { status: 'odd' };
    const sent = await deliver(receiver, '{ "status":  "odd", "status": "odd" }');
    const answer = {
      response_code: sent.status,
      response: sent.body,
      response_headers: { ...sent.headers },
    };
    const logs = [entry(1, { payload, ...answer })];
    expect((await recoverFrom({ logs }, { receiver })).log).toMatchObject({ done: 1, edited: 0 });
    const without = openShop({ store });
    expect((await recoverFrom({ logs }, without)).log).toMatchObject({ done: 1, edited: 0 });
    expect(kept).toEqual(['whl_1']);
  });

  test('for which a function of the shop throws does not hide the others', async () => {
    const delivered: string[] = [];
    const receiver = createReceiver({
      secret({ url = '' }) {
        if (url.includes('odd')) throw new Error('no such shop');
        return { secret: SECRET, scope: 'a' };
      },
      store: durableStore(),
    }).on('order:paid', ({ payload: { id } }) => void delivered.push(id));
    const logs = [entry(1, { url: `${URL}?odd` }), entry(2)];
    const { log, complete } = await recoverFrom({ logs }, { receiver });
    expect([log.unreadable, complete, delivered]).toEqual([1, false, ['ord_2']]);
  });

  test('has the event of its signed body', async () => {
    const shop = openShop({ unwrap: ({ event, data }) => ({ event, payload: data }) });
    const logs = [
      entry(1, { event: 'order:updated', payload: { event: 'order:paid', data: paid(1) } }),
    ];
    const { deliveries } = await recoverFrom({ logs }, shop);
    expect(deliveries).toMatchObject([{ event: 'order:paid', outcome: 'handled' }]);
    const done = await answered(shop, logs[0] ?? entry(1));
    expect((await recoverFrom({ logs: [done] }, shop)).log.done).toBe(1);
  });

  test('belongs to the shop of its host', async () => {
    const scopes: string[] = [];
    const receiver = createReceiver({
      secret: ({ headers }) => {
        const host = new Headers(headers as Record<string, string>).get('host') ?? '';
        return host === 'b.example' ? { secret: SECRET, scope: 'b' } : null;
      },
      store: durableStore(),
    }).on('order:paid', ({ scope }) => void scopes.push(scope));
    const url = ['https://a.example/webhooks', 'https://b.example/webhooks'];
    const logs = url.map((one, at) => entry(at, { url: one }));
    const { log } = await recoverFrom({ logs }, { receiver }, { url, orders: false });
    expect([scopes, log.unknownShop, log.unreadable]).toEqual([['b'], 1, 0]);
  });

  test('reports when it was created, not when it was last tried', async () => {
    const logs = [entry(1, { created_at: ago(DAY) })];
    const { deliveries } = await recoverFrom({ logs }, openShop());
    expect(deliveries[0]?.sentAt).toEqual(new Date(ago(DAY)));
  });
});

describe('the pages of the log', () => {
  test('may be in any order', async () => {
    const logs = Array.from({ length: 120 }, (_, at) =>
      entry(at, at < 60 ? { created_at: ago(8 * DAY - at) } : {}),
    );
    const shop = openShop();
    await recoverFrom({ logs }, shop);
    expect(shop.delivered).toHaveLength(60);
  });

  test('may begin with a page of entries of the same old time', async () => {
    const long = ago(8 * DAY);
    const logs = Array.from({ length: 60 }, (_, at) =>
      entry(at, at < 55 ? { created_at: long } : {}),
    );
    const shop = openShop();
    await recoverFrom({ logs }, shop);
    expect(shop.delivered).toHaveLength(5);
  });

  test('are read again at once if the second reading finds new entries', async () => {
    const provided: Provided = { logs: [] };
    const client = provider(provided);
    provided.onRequest = (path, count) => {
      if (path === 'GET /webhooks/logs' && count === 3) provided.logs = [entry(1)];
      return undefined;
    };
    const shop = openShop();
    await recoverFrom(provided, shop, { client });
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('are read at most six times, even if each reading finds new entries', async () => {
    const provided: Provided = { logs: [] };
    const client = provider(provided);
    provided.onRequest = (path, count) => {
      if (path === 'GET /webhooks/logs') provided.logs.unshift(entry(count));
      return undefined;
    };
    const { deliveries } = await recoverFrom(provided, openShop(), { client, apply: false });
    expect(deliveries).toHaveLength(6);
  });

  test('end after five empty pages, whatever the total is', async () => {
    const headers = { 'X-Total-Pages': '999999999' };
    const onRequest = (path: string, count: number) =>
      path === 'GET /webhooks/logs'
        ? Response.json(count < 3 ? [entry(1)] : [], { headers })
        : undefined;
    const client = provider({ logs: [], onRequest });
    const recovering = recoverFrom({ logs: [] }, openShop(), { client, apply: false });
    expect((await recovering).deliveries).toHaveLength(1);
    expect(client.asked.length).toBeLessThan(100);
  });

  test.each([
    ['there is no total', undefined],
    ['the total is a billion', '1000000000'],
  ])('that repeat in turn forever are read a limited number of times if %s', async (_, total) => {
    let lists = 0;
    const headers = total === undefined ? {} : { 'X-Total-Pages': total };
    const onRequest = (path: string) =>
      path === 'GET /webhooks/logs' ? Response.json([entry(lists++ % 2)], { headers }) : undefined;
    const client = provider({ logs: [], onRequest });
    const recovering = recoverFrom({ logs: [] }, openShop(), { client, apply: false });
    expect((await recovering).deliveries).toHaveLength(2);
    expect(client.asked.length).toBeLessThan(100);
  });

  test('may have two deliveries with the same id, which are both reported', async () => {
    const shop = openShop();
    const logs = [entry(1), { ...entry(2), id: 'whl_1' }];
    const { deliveries, log, complete } = await recoverFrom({ logs }, shop);
    expect(deliveries).toMatchObject([{ recordId: 'ord_1', outcome: 'handled' }]);
    expect([log.refused, log.unreadable, complete]).toEqual([2, 1, false]);
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('end at the first empty page if there is no total', async () => {
    const shop = openShop();
    const logs = Array.from({ length: 60 }, (_, at) => entry(at));
    logs.push(await live(shop, { age: 2 * HOUR }));
    const provided: Provided = { logs, withoutTotal: true };
    const client = provider(provided);
    await recoverFrom(provided, shop, { client, apply: false });
    expect(client.asked.filter((path) => path === 'GET /webhooks/logs')).toHaveLength(2 * 3);
  });

  test('may fail if they are not needed any more', async () => {
    const old = { created_at: ago(8 * DAY) };
    const shop = openShop();
    const logs = Array.from({ length: 120 }, (_, at) => entry(200 - at, at > 40 ? old : {}));
    logs.splice(41, 0, await live(shop, { age: 2 * HOUR }));
    const provided: Provided = { logs };
    const client = provider(provided);
    let lists = 0;
    provided.onRequest = (path) => {
      if (path !== 'GET /webhooks/logs') return undefined;
      lists += 1;
      return lists % 2 === 0 ? Response.json({ message: 'No.' }, { status: 401 }) : undefined;
    };
    const { deliveries } = await recoverFrom(provided, shop, { client, apply: false });
    expect(deliveries).toHaveLength(41);
    await new Promise((resolve) => setTimeout(resolve, 50));
  });

  test('are reported as they are read', async () => {
    const told: unknown[] = [];
    const shop = openShop();
    const logs = Array.from({ length: 60 }, (_, at) => entry(at));
    logs.push(await live(shop, { age: 2 * HOUR }));
    await recoverFrom({ logs }, shop, {
      apply: false,
      onProgress: ({ step, done, of }) => void (step === 'log' && told.push([done, of])),
    });
    expect(told).toEqual([
      [1, 2],
      [2, 2],
      [1, 2],
      [2, 2],
    ]);
  });
});

describe('the order of recovered deliveries', () => {
  test('falls back to the times of the entries, and then to their ids, if the payloads have no time', async () => {
    const timeless = (number: number) => paid(number, { updated_at: undefined });
    const at = { created_at: ago(MINUTE) };
    const logs = [
      entry(4, { payload: timeless(4), ...at }),
      entry(3, { payload: timeless(3), ...at }),
      entry(1, { payload: timeless(1) }),
      entry(2),
    ];
    const shop = openShop();
    await recoverFrom({ logs }, shop);
    expect(shop.delivered).toEqual(['ord_1', 'ord_2', 'ord_3', 'ord_4']);
  });

  test('is the order of the log if two changes have the same time', async () => {
    const changes = { payload: paid(1) };
    const logs = [
      entry(1, { ...changes, created_at: ago(MINUTE), event: 'order:updated' }),
      entry(2, { ...changes, created_at: ago(2 * MINUTE) }),
    ];
    const { deliveries } = await recoverFrom({ logs }, openShop(), { apply: false });
    expect(deliveries.map(({ id }) => id)).toEqual(['whl_2', 'whl_1']);
  });

  test('keeps a change behind an earlier one that is busy in another process', async () => {
    skipWaits();
    const store = durableStore(({ claim }) => ({
      claim: async (delivery, terms) =>
        delivery.id === 'whl_1' ? { state: 'busy', retryAfterMs: 1 } : claim(delivery, terms),
    }));
    const later = (number: number) =>
      entry(number, { payload: paid(1, { updated_at: ago(MINUTE - number) }) });
    const logs = [later(4), later(3), entry(2), entry(1)];
    const { deliveries, complete } = await recoverFrom({ logs }, openShop({ store }));
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['busy', 'handled', 'held', 'held']);
    expect(complete).toBe(false);
  });

  test('ends at once if the signal aborts while another process is busy', async () => {
    skipWaits();
    const aborted = new AbortController();
    const store = durableStore(() => ({
      async claim() {
        aborted.abort(new Error('enough'));
        return { state: 'busy', retryAfterMs: 60_000 };
      },
    }));
    const { signal } = aborted;
    const recovery = recoverFrom({ logs: [entry(1)] }, openShop({ store }), { signal });
    await expect(ended(recovery, 'the recovery')).rejects.toThrow('enough');
  });

  test('waits a little for a delivery that is busy in another process', async () => {
    skipWaits();
    // The delivery stays busy for longer than the receiver itself waits.
    const until = performance.now() + 3_500;
    const store = durableStore(({ claim }) => ({
      claim: async (delivery, terms) =>
        performance.now() < until ? { state: 'busy', retryAfterMs: 100 } : claim(delivery, terms),
    }));
    const shop = openShop({ store });
    expect(await recoverFrom({ logs: [entry(1)] }, shop)).toMatchObject({ complete: true });
    expect(shop.delivered).toEqual(['ord_1']);
  });
});

describe('recovery is complete', () => {
  test('if the missed deliveries have no handler', async () => {
    const logs = [entry(1, { event: 'order:updated' })];
    for (const apply of [true, false]) {
      const shop = openShop({ hooks: { onOutcome() {} } });
      const recovery = await recoverFrom({ logs }, shop, { apply });
      expect(recovery).toMatchObject({ deliveries: [{ outcome: 'ignored' }], complete: true });
    }
  });

  test('only if no delivery needs review and none is gone', async () => {
    const receiver = createReceiver({ secret: SECRET, store: durableStore() }).onInvalid(() => {});
    const odd = entry(1, { payload: paid(1, { status: 0 }) });
    expect(await recoverFrom({ logs: [odd] }, { receiver })).toMatchObject({
      deliveries: [{ outcome: 'parked' }],
      complete: false,
    });
    const provided: Provided = { logs: [entry(1)] };
    provided.onRequest = (path) => {
      if (path.endsWith('whl_1')) provided.logs = [];
      return undefined;
    };
    const client = provider(provided);
    expect(await recoverFrom(provided, openShop(), { client })).toMatchObject({
      deliveries: [{ outcome: 'gone' }],
      complete: false,
    });
  });
});
