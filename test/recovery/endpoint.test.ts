import { createReceiver, type ReceiverOptions } from 'storefront-webhooks';
import type { RecoveryProgress } from 'storefront-webhooks/recovery';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  ENDPOINT,
  entry,
  MINUTE,
  NOW,
  openShop,
  type Provided,
  paid,
  provider,
  recoverFrom,
} from './provider.js';

const disabled = { ...ENDPOINT, enabled: false };

/** A shop whose paid orders are safe to run without a log. */
function openOncePerOrder(options: Partial<Omit<ReceiverOptions, 'events'>> = {}) {
  const delivered: string[] = [];
  const receiver = createReceiver({
    secret: SECRET,
    ...options,
    store: durableStore(),
  }).on('order:paid', ({ payload: { id } }) => void delivered.push(id), {
    name: 'deliver',
    oncePer: ({ id }) => id,
  });
  return { receiver, delivered };
}

describe('the endpoint', () => {
  test.each([
    [
      'is disabled, beside one of another address',
      [{ ...ENDPOINT, url: 'https://a.example' }, disabled],
      'disabled',
    ],
    [
      'is missing, where there is another address',
      [{ ...ENDPOINT, url: 'https://a.example' }],
      'missing',
    ],
    [
      'is enabled where nothing says that it is not',
      [{ ...ENDPOINT, enabled: undefined }],
      'enabled',
    ],
  ])('%s', async (_, endpoints, state) => {
    const recovery = await recoverFrom({ logs: [], endpoints }, openShop());
    expect(recovery).toMatchObject({ endpoint: state, complete: state === 'enabled' });
  });

  test('is not made anew unasked, nor where it was before, nor where there was none', async () => {
    const unasked: Provided = { logs: [], endpoints: [disabled] };
    await recoverFrom(unasked, openShop());
    expect(unasked.endpoints).toEqual([disabled]);
    const before: Provided = { logs: [], endpoints: [{ ...ENDPOINT, id: 'ep_2' }, disabled] };
    await recoverFrom(before, openShop(), { recreateEndpoint: true });
    expect(before.endpoints).toEqual([{ ...ENDPOINT, id: 'ep_2' }]);
    const none: Provided = { logs: [], endpoints: [] };
    const recovery = await recoverFrom(none, openShop(), { recreateEndpoint: true });
    expect(recovery).toMatchObject({ endpoint: 'missing', complete: false });
    expect(none.endpoints).toEqual([]);
  });

  test('is made anew for all of its events', async () => {
    const events = ['order:updated', 'query:created'];
    const provided: Provided = { logs: [], endpoints: [{ ...disabled, events }] };
    await recoverFrom(provided, openShop(), { recreateEndpoint: true });
    expect(provided.endpoints).toMatchObject([{ events, enabled: true }]);
  });

  test('that was disabled stays until nothing is left, so that orders are compared again', async () => {
    const shop = openShop({ hooks: { onError() {} } });
    shop.receiver.on('order:paid', () => Promise.reject(new Error('no keys left')), {
      name: 'key',
    });
    const provided: Provided = { logs: [entry(1)], endpoints: [disabled] };
    const recovery = await recoverFrom(provided, shop, { recreateEndpoint: true });
    expect(recovery).toMatchObject({ endpoint: 'recreated', complete: false });
    expect(provided.endpoints).toContainEqual(disabled);
  });

  test('that is disabled sends no retry, whatever the log says', async () => {
    const logs = [entry(1, { retries: 2, next_retry_at: ago(-MINUTE) })];
    const { deliveries } = await recoverFrom({ logs, endpoints: [disabled] }, openShop());
    expect(deliveries).toMatchObject([{ reason: 'refused', outcome: 'handled' }]);
  });
});

describe('a paid order that no log tells of', () => {
  const endpoints = [disabled];

  test('is one that the log tells of otherwise only, with what it is worth', async () => {
    const shop = openOncePerOrder();
    const logs = [entry(1, { event: 'order:created' })];
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
    expect([shop.delivered, steps]).toEqual([['ord_1'], [[1, 1]]]);
  });

  test('is looked for where there is no endpoint', async () => {
    const shop = openOncePerOrder();
    await recoverFrom({ logs: [], endpoints: [], orders: [paid(1)] }, shop);
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('may have no time, and then is run last', async () => {
    const shop = openOncePerOrder();
    const orders = [paid(2, { updated_at: null, created_at: null }), paid(1)];
    const { deliveries } = await recoverFrom({ logs: [], endpoints, orders }, shop);
    expect(shop.delivered).toEqual(['ord_1', 'ord_2']);
    expect(deliveries.at(-1)?.toldAt).toEqual(NOW);
  });

  test('is left where it was refunded since it was read', async () => {
    const shop = openOncePerOrder();
    const provided: Provided = { logs: [], endpoints, orders: [paid(1)] };
    provided.onRequest = (path) => {
      if (path === 'GET /orders/ord_1') provided.orders = [paid(1, { status: 56 })];
      return undefined;
    };
    const { deliveries } = await recoverFrom(provided, shop, { client: provider(provided) });
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['settled']);
    expect(shop.delivered).toEqual([]);
  });

  test('is safe to run where keyBy makes one key of all its deliveries', async () => {
    const shop = openShop({ keyBy: ({ id }) => `${id}` });
    await recoverFrom({ logs: [], endpoints, orders: [paid(1)] }, shop);
    expect(shop.delivered).toEqual(['ord_1']);
    const byContent = openShop({ keyBy: 'content' });
    await recoverFrom({ logs: [], endpoints, orders: [paid(1)] }, byContent);
    expect(byContent.delivered).toEqual([]);
  });

  test('is never wrapped, though webhooks are', async () => {
    const shop = openOncePerOrder({
      unwrap: ({ event, data }) => ({ event: event ?? 'unknown:event', payload: data ?? {} }),
    });
    await recoverFrom({ logs: [], endpoints, orders: [paid(1)] }, shop);
    expect(shop.delivered).toEqual(['ord_1']);
  });
});
