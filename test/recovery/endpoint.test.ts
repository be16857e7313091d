import { createReceiver } from 'storefront-webhooks';
import type { RecoveryProgress } from 'storefront-webhooks/recovery';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  answered,
  ENDPOINT,
  entry,
  live,
  MINUTE,
  NOW,
  openOncePerOrder,
  openShop,
  type Provided,
  paid,
  provider,
  recoverFrom,
  URL,
} from './provider.js';

const disabled = { ...ENDPOINT, enabled: false };

describe('endpoints', () => {
  test.each([
    [
      'disabled, beside an endpoint of another address',
      [{ ...ENDPOINT, url: 'https://a.example' }, disabled],
      'disabled',
    ],
    [
      'missing, if only another address has an endpoint',
      [{ ...ENDPOINT, url: 'https://a.example' }],
      'missing',
    ],
    ['enabled, if it has no `enabled` field', [{ ...ENDPOINT, enabled: undefined }], 'enabled'],
  ])('recovery reports an endpoint as %s', async (_, endpoints, state) => {
    const recovery = await recoverFrom({ logs: [], endpoints }, openShop(), { orders: false });
    expect(recovery).toMatchObject({ endpoint: state, complete: state === 'enabled' });
  });

  test('recovery reports an address whose endpoint tells the receiver nothing', async () => {
    const other = `${URL}/other`;
    const endpoints = [
      ENDPOINT,
      { ...ENDPOINT, id: 'ep_2', url: other, events: ['product:out_of_stock'] },
    ];
    const options = { url: [URL, other], orders: false };
    const recovery = await recoverFrom({ logs: [], endpoints }, openShop(), options);
    expect(recovery).toMatchObject({ endpoint: 'missing', withoutEndpoint: [], complete: false });
  });

  test('an endpoint is recreated only on request, only if it exists, and not if another one replaces it', async () => {
    const unasked: Provided = { logs: [], endpoints: [disabled] };
    await recoverFrom(unasked, openShop());
    expect(unasked.endpoints).toEqual([disabled]);
    const before: Provided = { logs: [], endpoints: [{ ...ENDPOINT, id: 'ep_2' }, disabled] };
    await recoverFrom(before, openShop(), { recreateEndpoint: true });
    expect(before.endpoints).toEqual([{ ...ENDPOINT, id: 'ep_2' }]);
    const none: Provided = { logs: [], endpoints: [] };
    const recovery = await recoverFrom(none, openShop(), {
      ...{ recreateEndpoint: true, orders: false },
    });
    expect(recovery).toMatchObject({ endpoint: 'missing', complete: false });
    expect(none.endpoints).toEqual([]);
  });

  test('a recreated endpoint has all events of the old one', async () => {
    const events = ['order:updated', 'query:created'];
    const provided: Provided = { logs: [], endpoints: [{ ...disabled, events }] };
    await recoverFrom(provided, openShop(), { recreateEndpoint: true });
    expect(provided.endpoints).toMatchObject([{ events, enabled: true }]);
  });

  test('each of several addresses is checked and recreated separately', async () => {
    const other = {
      ...ENDPOINT,
      id: 'ep_other',
      url: 'https://shop.example/other',
      enabled: false,
    };
    const url = [URL, other.url];
    const one: Provided = { logs: [], endpoints: [ENDPOINT, other] };
    const seen = await recoverFrom(one, openShop(), { url });
    expect(seen).toMatchObject({ endpoint: 'disabled', complete: false });
    const made = await recoverFrom(one, openShop(), { url, recreateEndpoint: true });
    expect(made).toMatchObject({ endpoint: 'recreated', complete: true });
    expect(one.endpoints?.map((each) => [each.url, each.enabled])).toEqual([
      [other.url, true],
      [URL, true],
    ]);
    const both: Provided = { logs: [], endpoints: [disabled, other] };
    await recoverFrom(both, openShop(), { url, recreateEndpoint: true });
    expect(both.endpoints?.map((each) => [each.url, each.enabled])).toEqual([
      [other.url, true],
      [URL, true],
    ]);
  });

  test('an endpoint with other events or another query does not replace a disabled one', async () => {
    const others = [
      { ...ENDPOINT, id: 'ep_2', events: ['product:created'] },
      { ...ENDPOINT, id: 'ep_3', url: `${URL}?shop=2` },
    ];
    const provided: Provided = { logs: [], endpoints: [...others, disabled] };
    await recoverFrom(provided, openShop(), { recreateEndpoint: true });
    const [made, ...rest] = provided.endpoints ?? [];
    expect(made).toMatchObject({ url: URL, events: ENDPOINT.events, enabled: true });
    expect(rest).toEqual(others);
  });

  test('a disabled endpoint without a list of events is neither recreated nor deleted', async () => {
    const old = { ...disabled, events: undefined };
    const provided: Provided = { logs: [], endpoints: [old] };
    const recovery = await recoverFrom(provided, openShop(), { recreateEndpoint: true });
    expect(recovery).toMatchObject({ endpoint: 'disabled', complete: false });
    expect(provided.endpoints).toEqual([old]);
  });

  test('an endpoint is created once, even if the response to its creation is lost', async () => {
    const provided: Provided = { logs: [], endpoints: [disabled] };
    const onRequest = (path: string) => {
      if (path !== 'POST /webhooks/endpoints') return undefined;
      provided.endpoints = [{ ...ENDPOINT, id: 'ep_2' }, ...(provided.endpoints ?? [])];
      return Response.json({ message: 'Oh.' }, { status: 500 });
    };
    const client = provider(Object.assign(provided, { onRequest }));
    const recovery = await recoverFrom(provided, openShop(), { client, recreateEndpoint: true });
    expect(recovery).toMatchObject({ endpoint: 'recreated', complete: true });
    expect(provided.endpoints).toEqual([{ ...ENDPOINT, id: 'ep_2' }]);
  });

  test('an endpoint that another recovery has deleted counts as deleted', async () => {
    const provided: Provided = { logs: [], endpoints: [disabled] };
    const onRequest = (path: string) =>
      path.startsWith('DELETE') ? Response.json({ message: 'None.' }, { status: 404 }) : undefined;
    const client = provider(Object.assign(provided, { onRequest }));
    const recovery = await recoverFrom(provided, openShop(), { client, recreateEndpoint: true });
    expect(recovery.complete).toBe(true);
  });

  test('after an interrupted run that recreated the endpoint, the old one gets no retries', async () => {
    const logs = [entry(1, { retries: 2, next_retry_at: ago(-MINUTE) })];
    const shop = openShop();
    const endpoints = [{ ...ENDPOINT, id: 'ep_2' }, disabled];
    await recoverFrom({ logs, endpoints }, shop, { recreateEndpoint: true });
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('a disabled endpoint is kept until nothing is left, so that the next run compares orders again', async () => {
    const shop = openShop({ hooks: { onError() {} } });
    shop.receiver.on('order:paid', () => Promise.reject(new Error('no keys left')), {
      name: 'key',
    });
    const provided: Provided = { logs: [entry(1)], endpoints: [disabled] };
    const recovery = await recoverFrom(provided, shop, { recreateEndpoint: true });
    expect(recovery).toMatchObject({ endpoint: 'recreated', complete: false });
    expect(provided.endpoints).toContainEqual(disabled);
  });

  test('a disabled endpoint gets no retries, even if the log announces one', async () => {
    const logs = [entry(1, { retries: 2, next_retry_at: ago(-MINUTE) })];
    const { deliveries } = await recoverFrom({ logs, endpoints: [disabled] }, openShop());
    expect(deliveries).toMatchObject([{ reason: 'refused', outcome: 'handled' }]);
  });
});

describe('an unlogged paid order', () => {
  const endpoints = [disabled];

  test('is an order without an entry for order:paid, reported with its value', async () => {
    const shop = openOncePerOrder();
    const logs = [entry(1, { event: 'order:created' }), await live(shop)];
    const steps: unknown[] = [];
    const onProgress = ({ step, done, of }: RecoveryProgress) => {
      if (step === 'orders') steps.push([done, of]);
    };
    const { deliveries } = await recoverFrom({ logs, endpoints, orders: [paid(1)] }, shop, {
      onProgress,
    });
    expect(deliveries).toContainEqual(
      expect.objectContaining({
        reason: 'unlogged',
        outcome: 'handled',
        value: '9.99',
        currency: 'USD',
      }),
    );
    expect([shop.delivered, steps]).toEqual([
      ['ord_1'],
      [
        [1, 1],
        [1, 1],
      ],
    ]);
  });

  test('is found if the endpoint was enabled again after it had been disabled', async () => {
    const shop = openOncePerOrder();
    const days = (count: number) => ago(count * 24 * 60 * MINUTE);
    const again = { ...disabled, enabled: true, created_at: days(60), updated_at: ago(MINUTE) };
    const logs = [await answered(shop, entry(2, { created_at: days(2), updated_at: days(2) }))];
    const provided = { logs, endpoints: [again], orders: [paid(1), paid(2)] };
    await recoverFrom(provided, shop);
    expect(shop.delivered).toEqual(['ord_2', 'ord_1']);
  });

  test('runs without an endpoint only with orders: true', async () => {
    const shop = openOncePerOrder();
    const provided = { logs: [await live(shop)], endpoints: [], orders: [paid(1)] };
    await recoverFrom(provided, shop, { orders: false });
    expect(shop.delivered).toEqual([]);
    await recoverFrom(provided, shop, { orders: true });
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test("does not run if it is older than the receiver's first answer, unless earlier is true", async () => {
    const shop = openOncePerOrder();
    const first = await answered(shop, entry(2));
    const provided = { logs: [first], endpoints, orders: [paid(1), paid(2), paid(3)] };
    const { deliveries, complete } = await recoverFrom(provided, shop);
    expect(deliveries.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['ord_1', 'earlier'],
      ['ord_3', 'handled'],
    ]);
    expect([complete, shop.delivered]).toEqual([false, ['ord_2', 'ord_3']]);
    await recoverFrom(provided, shop, { earlier: true });
    expect(shop.delivered).toEqual(['ord_2', 'ord_3', 'ord_1']);
  });

  test('does not run if the receiver has never answered', async () => {
    const shop = openOncePerOrder();
    const provided = { logs: [entry(2)], endpoints, orders: [paid(1), paid(2), paid(3)] };
    await recoverFrom(provided, shop, { orders: true });
    expect(shop.delivered).toEqual(['ord_2']);
  });

  test('is not compared if it has no handler', async () => {
    const receiver = createReceiver({ secret: SECRET, store: durableStore() });
    receiver.on('query:created', () => {});
    const provided = { logs: [], endpoints, orders: [paid(1)] };
    const { deliveries } = await recoverFrom(provided, { receiver });
    expect(deliveries).toEqual([]);
  });

  test('may have no time, and then runs last', async () => {
    const shop = openOncePerOrder();
    const orders = [paid(2, { updated_at: null, created_at: null }), paid(1)];
    const { deliveries } = await recoverFrom({ logs: [await live(shop)], endpoints, orders }, shop);
    expect(shop.delivered).toEqual(['ord_1', 'ord_2']);
    expect(deliveries.at(-1)?.sentAt).toEqual(NOW);
  });

  test('does not run if it was refunded after the list was read', async () => {
    const shop = openOncePerOrder();
    const provided: Provided = { logs: [await live(shop)], endpoints, orders: [paid(1)] };
    provided.onRequest = (path) => {
      if (path === 'GET /orders/ord_1') provided.orders = [paid(1, { status: 56 })];
      return undefined;
    };
    const { deliveries } = await recoverFrom(provided, shop, { client: provider(provided) });
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['settled']);
    expect(shop.delivered).toEqual([]);
  });

  test.each([
    ['a function, whose result may be undefined or depend on the encoding', () => undefined],
    ['the content', 'content'],
  ] as const)('is unsafe to run with a keyBy of %s', async (_, keyBy) => {
    const shop = openShop({ keyBy });
    const { deliveries } = await recoverFrom(
      { logs: [await live(shop)], endpoints, orders: [paid(1)] },
      shop,
    );
    expect(deliveries).toMatchObject([{ outcome: 'unsafe' }]);
    expect(shop.delivered).toEqual([]);
  });

  test('is unsafe to run if it may belong to several shops', async () => {
    const secret = ({ url = '' }) => ({ secret: SECRET, scope: url });
    const shop = openOncePerOrder({ secret });
    const provided = { logs: [await live(shop)], endpoints, orders: [paid(1)] };
    const both = [URL, 'https://shop.example/other'];
    const { deliveries } = await recoverFrom(provided, shop, { url: both, orders: true });
    expect(deliveries).toMatchObject([{ outcome: 'unsafe' }]);
    await recoverFrom(provided, shop);
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('is found even if orders disappear while the pages are read', async () => {
    const shop = openOncePerOrder();
    const orders = Array.from({ length: 120 }, (_, at) => paid(at));
    const provided: Provided = { logs: [await live(shop)], endpoints, orders };
    let isRemoved = false;
    provided.onRequest = (path, count) => {
      if (path !== 'GET /orders' || isRemoved || count < 4) return undefined;
      isRemoved = true;
      provided.orders = orders.slice(1);
      return undefined;
    };
    const client = provider(provided);
    await recoverFrom(provided, shop, { client });
    expect(new Set(shop.delivered).size).toBe(119);
  });

  test('is gone if the provider returns another order', async () => {
    const shop = openOncePerOrder();
    const onRequest = (path: string) =>
      path === 'GET /orders/ord_2' ? Response.json(paid(1)) : undefined;
    const provided = { logs: [await live(shop)], endpoints, orders: [paid(1), paid(2)], onRequest };
    const { deliveries, complete } = await recoverFrom(provided, shop);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['handled', 'gone']);
    expect(complete).toBe(false);
  });

  test('is not unwrapped, even if webhooks are', async () => {
    const shop = openOncePerOrder({
      unwrap: ({ event, data }) => ({ event: event ?? 'unknown:event', payload: data ?? {} }),
    });
    await recoverFrom({ logs: [await live(shop)], endpoints, orders: [paid(1)] }, shop);
    expect(shop.delivered).toEqual(['ord_1']);
  });
});
