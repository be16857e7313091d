import { createReceiver, type IdempotencyStore, type ReceiverOptions } from 'storefront-webhooks';
import type { RecoverOptions } from 'storefront-webhooks/recovery';
import { describe, expect, test } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  answered,
  DAY,
  ENDPOINT,
  type Entry,
  entry,
  live,
  MINUTE,
  NOW,
  openShop,
  type Provided,
  paid,
  recoverFrom,
  URL,
} from './provider.js';

const DISABLED = { ...ENDPOINT, id: 'ep_9', enabled: false };
const A = 'https://shop.example/a';
const B = 'https://shop.example/b';

/** A shop that delivers each order once. */
function openOnce(
  store: IdempotencyStore = durableStore(),
  secret: ReceiverOptions['secret'] = SECRET,
) {
  const delivered: string[] = [];
  const hooks = { onError() {} };
  const receiver = createReceiver({ secret, store, hooks }).on(
    'order:paid',
    ({ payload: { id } }) => void delivered.push(id),
    { name: 'deliver', oncePer: (order) => order.id },
  );
  return { receiver, delivered };
}

const outcomesOf = ({ deliveries }: Awaited<ReturnType<typeof recoverFrom>>) =>
  deliveries.map(({ recordId, reason, outcome }) => `${recordId} ${reason} ${outcome}`);

const recreating = (options: Partial<RecoverOptions> = {}) => ({
  recreateEndpoint: true,
  ...options,
});

describe('a changed order', () => {
  const old = { created_at: ago(8 * DAY), updated_at: ago(8 * DAY) };
  const changed = paid(1, { created_at: ago(8 * DAY), updated_at: ago(DAY) });

  test('does not count as unlogged if the log shows its earlier delivery', async () => {
    const store = durableStore();
    const before = openShop({ store });
    const log = await answered(before, entry(1, { ...old, payload: paid(1, old) }));
    const provided = { logs: [entry(3), log], endpoints: [DISABLED], orders: [changed] };
    // The new oncePer would deliver it again.
    const shop = openOnce(store);
    const recovered = await recoverFrom(provided, shop);
    expect(outcomesOf(recovered)).toEqual(['ord_3 refused handled']);
    expect([before.delivered, shop.delivered]).toEqual([['ord_1'], ['ord_3']]);
    expect(recovered.log).toMatchObject({ done: 0, refused: 1 });
  });

  test('counts as unlogged if the log shows only rejections', async () => {
    const refused = entry(1, { ...old, payload: paid(1, old) });
    const shop = openOnce();
    const logs = [refused, await live(shop)];
    const provided = { logs, endpoints: [DISABLED], orders: [changed] };
    expect(outcomesOf(await recoverFrom(provided, shop))).toEqual(['ord_1 unlogged handled']);
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('does not count as unlogged if the store shows that recovery delivered it', async () => {
    const store = durableStore();
    const refused = entry(1, { ...old, payload: paid(1, old) });
    const plain = openShop({ store });
    await recoverFrom({ logs: [refused] }, plain, { since: 10 * DAY });
    expect(plain.delivered).toEqual(['ord_1']);
    const provided = { logs: [refused], endpoints: [DISABLED], orders: [changed] };
    expect(outcomesOf(await recoverFrom(provided, plain))).toEqual([]);
  });
});

test('a disabled endpoint gets no retries, so recovery is incomplete while a delivery is too young', async () => {
  const shop = openShop();
  const at = ago(MINUTE);
  const unanswered = {
    response_code: 0,
    response: '',
    retries: 1,
    next_retry_at: ago(-60 * MINUTE),
  };
  const logs = [entry(1, { ...unanswered, created_at: at, updated_at: at })];
  const provided: Provided = { logs, endpoints: [DISABLED], orders: [paid(1)] };
  const early = await recoverFrom(provided, shop, recreating());
  expect(early).toMatchObject({ complete: false, endpoint: 'recreated', log: { waiting: 1 } });
  expect(provided.endpoints).toHaveLength(2);
  const now = new Date(NOW.getTime() + 30 * MINUTE);
  const late = await recoverFrom(provided, shop, recreating({ now }));
  expect([late.complete, shop.delivered]).toEqual([true, ['ord_1']]);
  expect(provided.endpoints).toMatchObject([{ enabled: true }]);
});

describe('a token that may not read orders', () => {
  const open = (): Provided => ({
    ...{ logs: [entry(1)], endpoints: [DISABLED], orders: [paid(1), paid(2)] },
    onRequest: (path) =>
      path.startsWith('GET /orders')
        ? Response.json({ message: 'No.' }, { status: 403 })
        : undefined,
  });

  test('recovers from the log alone, is incomplete, and keeps the disabled endpoint', async () => {
    const shop = openOnce();
    const provided = open();
    const { onRequest: forbid } = provided;
    const made = { ...ENDPOINT, created_at: ago(0) };
    provided.onRequest = (path, ...rest) => {
      if (!path.startsWith('POST')) return forbid?.(path, ...rest);
      provided.endpoints = [made, DISABLED];
      return Response.json(made, { status: 201 });
    };
    const recovered = await recoverFrom(provided, shop, recreating());
    expect(outcomesOf(recovered)).toEqual(['ord_1 refused handled']);
    expect(recovered).toMatchObject({ complete: false, ordersForbidden: true });
    expect(provided.endpoints).toEqual([made, DISABLED]);
    const { onRequest: _, ...allowed } = provided;
    const logs = [await live(shop), ...provided.logs];
    const later = await recoverFrom({ ...allowed, logs }, shop);
    expect(later).toMatchObject({ complete: true, ordersForbidden: false });
    expect(shop.delivered).toEqual(['ord_1', 'ord_2']);
  });

  test('rejects if the operator asked for orders, and needs none if not', async () => {
    const shop = openOnce();
    const asked = recoverFrom(open(), shop, { orders: true });
    await expect(asked).rejects.toMatchObject({ code: 'forbidden' });
    expect(shop.delivered).toEqual([]);
    const recovered = await recoverFrom(open(), shop, { orders: false });
    expect([recovered.ordersForbidden, shop.delivered]).toEqual([false, ['ord_1']]);
  });
});

describe('recreateEndpoint', () => {
  const both = ['order:paid', 'order:updated'];

  test.each([
    ['at the same address', URL],
    ['at the address without the final slash', `${URL}/`],
  ])('creates an endpoint for the events that no other endpoint has, %s', async (_, url) => {
    const disabled = { ...DISABLED, url, events: both };
    const provided: Provided = { logs: [], endpoints: [disabled, ENDPOINT] };
    expect(await recoverFrom(provided, openShop(), recreating())).toMatchObject({ complete: true });
    const made = { url, events: ['order:updated'], enabled: true };
    expect(provided.endpoints).toMatchObject([made, ENDPOINT]);
  });

  test('creates no endpoint if several others have all the events', async () => {
    const updated = { ...ENDPOINT, id: 'ep_2', events: ['order:updated'] };
    const endpoints = [{ ...DISABLED, events: both }, ENDPOINT, updated];
    const provided: Provided = { logs: [], endpoints };
    await recoverFrom(provided, openShop(), recreating());
    expect(provided.endpoints).toEqual([ENDPOINT, updated]);
  });

  test('creates an endpoint if only one with another query exists', async () => {
    const url = `${URL}?shop=a`;
    const provided: Provided = { logs: [], endpoints: [{ ...DISABLED, url }, ENDPOINT] };
    await recoverFrom(provided, openShop(), recreating());
    expect(provided.endpoints).toMatchObject([{ url, enabled: true }, ENDPOINT]);
  });

  test('creates one endpoint for two with the same events, even if the answer does not show the events', async () => {
    let created = 0;
    const provided: Provided = {
      ...{ logs: [], endpoints: [DISABLED, { ...DISABLED, id: 'ep_8' }] },
      onRequest(path) {
        if (!path.startsWith('POST')) return undefined;
        created += 1;
        // Otherwise, recovery might create endpoints forever.
        const status = created === 1 ? 201 : 400;
        return Response.json({ id: 'ep_2', url: URL, enabled: true }, { status });
      },
    };
    await recoverFrom(provided, openShop(), recreating());
    expect(created).toBe(1);
  });

  test.each([
    ['cannot be deleted, and reports that', 403, ['forbidden']],
    ['was deleted by another recovery, without an error', 404, []],
  ])('reports the recovered deliveries even if the old endpoint %s', async (_, status, codes) => {
    const errors: unknown[] = [];
    const hooks = { onError: (error: unknown) => void errors.push(error) };
    const shop = openShop({ hooks });
    const provided: Provided = {
      ...{ logs: [entry(1)], endpoints: [DISABLED], orders: [paid(1)] },
      onRequest: (path) =>
        path.startsWith('DELETE') ? Response.json({ message: 'No.' }, { status }) : undefined,
    };
    const recovered = await recoverFrom(provided, shop, recreating());
    expect(recovered).toMatchObject({ complete: true, endpoint: 'recreated' });
    expect(outcomesOf(recovered)).toEqual(['ord_1 refused handled']);
    expect(errors).toMatchObject(codes.map((code) => ({ code })));
  });
});

describe('recovery of several addresses', () => {
  const endpoints = (): Entry[] => [
    { ...ENDPOINT, id: 'ep_8', url: A },
    { ...DISABLED, url: B },
  ];

  test('that belong to different shops counts an order as logged only if the log has it for each shop', async () => {
    const delivered: string[] = [];
    const receiver = createReceiver({
      secret: ({ url = '' }) => ({ secret: SECRET, scope: url }),
      store: durableStore(),
    }).on('order:paid', ({ payload: { id }, scope }) => void delivered.push(`${scope} ${id}`), {
      name: 'deliver',
      oncePer: (order) => order.id,
    });
    const url = [A, B];
    const told = entry(1, { url: A });
    const long = await live({ receiver }, { url: A });
    const provided: Provided = { logs: [told, long], endpoints: endpoints(), orders: [paid(1)] };
    const recovered = await recoverFrom(provided, { receiver }, recreating({ url }));
    expect(outcomesOf(recovered)).toEqual(['ord_1 unlogged unsafe', 'ord_1 refused handled']);
    expect([recovered.complete, delivered]).toEqual([false, ['/a ord_1']]);
    const toBoth = { ...provided, logs: [entry(2, { url: B, payload: paid(1) }), told] };
    const all = await recoverFrom(toBoth, { receiver }, { url });
    expect(outcomesOf(all)).toEqual(['ord_1 refused duplicate', 'ord_1 refused handled']);
    expect(delivered).toEqual(['/a ord_1', '/b ord_1']);
  });

  test('that belong to one shop counts an order as logged if the log has it once', async () => {
    const provided: Provided = {
      logs: [entry(1, { url: A })],
      endpoints: endpoints(),
      orders: [paid(1)],
    };
    const recovered = await recoverFrom(provided, openShop(), { url: [A, B] });
    expect(outcomesOf(recovered)).toEqual(['ord_1 refused handled']);
  });

  test('names the addresses without an endpoint', async () => {
    const provided = { logs: [], endpoints: [ENDPOINT] };
    const noOrders = { orders: false };
    const one = await recoverFrom(provided, openShop(), { url: [`${URL}/`, A], ...noOrders });
    expect(one).toMatchObject({ endpoint: 'enabled', withoutEndpoint: [A], complete: true });
    const none = await recoverFrom({ logs: [], endpoints: [] }, openShop(), noOrders);
    expect(none).toMatchObject({ endpoint: 'missing', withoutEndpoint: [URL] });
  });
});

test('an unlogged order that the shop has done is listed as a duplicate', async () => {
  const shop = openOnce();
  await answered(shop, entry(1));
  const provided = { logs: [entry(3)], endpoints: [DISABLED], orders: [paid(1)] };
  const recovered = await recoverFrom(provided, shop, { apply: false });
  expect(outcomesOf(recovered)).toContain('ord_1 unlogged duplicate');
});

test('an unlogged order is looked up at the first of several addresses', async () => {
  const secret = ({ url = '' }) => ({ secret: SECRET, scope: url });
  const shop = openOnce(durableStore(), secret);
  await answered(shop, entry(1, { url: A }));
  const endpoints = [
    { ...DISABLED, url: A },
    { ...DISABLED, id: 'ep_8', url: B },
  ];
  const provided = { logs: [entry(3, { url: A })], endpoints, orders: [paid(1)] };
  const recovered = await recoverFrom(provided, shop, { apply: false, url: [A, B] });
  expect(outcomesOf(recovered)).toContain('ord_1 unlogged duplicate');
});

test('an order that changed exactly at `since` counts as unlogged', async () => {
  const at = { created_at: ago(DAY), updated_at: ago(DAY) };
  const provided = { logs: [entry(3)], endpoints: [DISABLED], orders: [paid(1, at)] };
  const { deliveries } = await recoverFrom(provided, openOnce(), { since: DAY, apply: false });
  expect(deliveries.map(({ reason }) => reason)).toContain('unlogged');
});

test('an order without updated_at has changed when it was created', async () => {
  const old = { created_at: ago(30 * DAY), updated_at: undefined };
  const provided = { logs: [entry(3)], endpoints: [DISABLED], orders: [paid(1, old)] };
  const { deliveries } = await recoverFrom(provided, openOnce(), { apply: false });
  expect(deliveries.map(({ reason }) => reason)).toEqual(['refused']);
});

test('an order that was just paid does not count as unlogged while its webhook may still arrive', async () => {
  const at = { created_at: ago(2000), updated_at: ago(1000) };
  const shop = openOnce();
  const provided = { logs: [], orders: [paid(1, at)] };
  const early = await recoverFrom(provided, shop, { orders: true });
  expect(early).toMatchObject({ complete: true, deliveries: [], log: { waiting: 1 } });
  // A disabled endpoint gets no webhook.
  const other = openOnce();
  const logs = [await live(other)];
  await recoverFrom({ ...provided, logs, endpoints: [DISABLED] }, other);
  expect(other.delivered).toEqual(['ord_1']);
  const now = new Date(NOW.getTime() + 30 * MINUTE);
  const logged = { ...provided, logs: [await live(shop)] };
  const late = await recoverFrom(logged, shop, { orders: true, now });
  expect([outcomesOf(late), shop.delivered]).toEqual([['ord_1 unlogged handled'], ['ord_1']]);
});

test('a change waits for the earlier change of its order if the store could not be reached', async () => {
  skipWaits();
  const ran: string[] = [];
  const store = durableStore((whole) => ({
    claim: async (delivery, options) => {
      if (delivery.id === 'whl_1') throw new Error('down');
      return whole.claim(delivery, options);
    },
  }));
  const shop = openShop({ store });
  shop.receiver.on('order:updated', ({ payload: { id } }) => void ran.push(id));
  const later = paid(1, { updated_at: ago(10 * MINUTE) });
  const logs = [entry(2, { event: 'order:updated', payload: later }), entry(1)];
  const recovered = await recoverFrom({ logs }, shop);
  expect(outcomesOf(recovered)).toEqual(['ord_1 refused unavailable', 'ord_1 refused held']);
  expect(ran).toEqual([]);
});

test.each([
  ['if the total number of pages is unknown', 50, true],
  ['on many pages', 250, false],
])('unreadable entries do not hide the entries behind them, %s', async (_, count, withoutTotal) => {
  const unreadable = Array.from({ length: count }, (_, at) => ({
    ...entry(1000 - at),
    payload: null,
  }));
  const shop = openShop();
  const logs = [...unreadable, entry(1)];
  const { complete, log } = await recoverFrom({ logs, withoutTotal }, shop);
  expect([shop.delivered, complete, log.unreadable]).toEqual([['ord_1'], false, count]);
});

test('a provider that ignores pages and returns only unreadable entries does not cause an endless loop', async () => {
  const shop = openShop();
  const nothing = () => Response.json([{ id: 7 }]);
  const onRequest = (path: string) => (path.includes('logs') ? nothing() : undefined);
  const { complete } = await recoverFrom({ logs: [], onRequest, withoutTotal: true }, shop);
  expect(complete).toBe(false);
});
