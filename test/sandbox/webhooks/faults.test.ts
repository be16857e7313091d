import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toFetch } from 'storefront-webhooks/fetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Faults } from '../../../src/sandbox/faults.js';
import { listenToFetch } from '../../adapters/apps/inside/listen.js';
import { type Listener, startListener } from './listener.js';
import { openShop, SECRET } from './shop.js';

let listener: Listener;
let shop: ReturnType<typeof openShop>;
beforeEach(async () => {
  listener = await startListener();
  shop = openShop();
  shop.subscribe(listener.url);
});
afterEach(async () => {
  await shop.close();
  await listener.close();
});

const operation = 'webhooks.send';

/** Sends three webhooks, and returns the order in which they arrived. */
async function three(): Promise<number[]> {
  for (let time = 0; time < 3; time++) shop.order();
  await shop.idle();
  return order();
}
function order(): number[] {
  const ids = shop.logs().map(({ id }) => id);
  return listener.came.map(({ id }) => ids.indexOf(`${id}`));
}

describe('a fault can make the first n attempts', () => {
  test('get lost, and the sandbox retries them', async () => {
    shop.faults.add({ operation, effect: 'lose', times: 2 });
    expect(await three()).toEqual([2]);
    expect(shop.logs()[0]).toMatchObject({
      response_code: 0,
      response: 'No answer: a fault lost the webhook.',
      next_retry_at: '2026-11-20T10:00:10.000000+00:00',
    });
    await shop.account.clock.advance(10_000);
    expect(order()).toEqual([2, 0, 1]);
    expect(shop.faults.list()).toEqual([]);
  });

  test('arrive and lose their answers, and the sandbox retries them', async () => {
    shop.faults.add({ operation, effect: 'lose-answer', times: 2 });
    expect(await three()).toEqual([0, 1, 2]);
    expect(shop.logs()[0]).toMatchObject({
      response_code: 0,
      response: 'No answer: a fault lost the answer.',
      response_headers: null,
    });
    await shop.account.clock.advance(10_000);
    expect(order()).toEqual([0, 1, 2, 0, 1]);
    expect(shop.logs()[0]).toMatchObject({ response_code: 200, retries: 1 });
  });

  test('arrive twice, with the same bytes', async () => {
    shop.faults.add({ operation, effect: 'duplicate', times: 2 });
    expect(await three()).toEqual([0, 0, 1, 1, 2]);
    expect(listener.came[1]?.body).toEqual(listener.came[0]?.body);
    expect(shop.logs()[0]).toMatchObject({ response_code: 200, retries: 0 });
  });

  test('arrive late, without delaying others', async () => {
    shop.faults.add({ operation, effect: 'late', times: 2, ms: 5_000 });
    expect(await three()).toEqual([2]);
    expect(shop.logs()[0]).toMatchObject({ response_code: 0, next_retry_at: null });
    await shop.account.clock.advance(4_999);
    expect(order()).toEqual([2]);
    await shop.account.clock.advance(1);
    expect(order()).toEqual([2, 0, 1]);
  });

  test('arrive after the next one', async () => {
    shop.faults.add({ operation, effect: 'reorder' });
    expect(await three()).toEqual([1, 0, 2]);
    await shop.account.clock.advance(1e9);
    expect(order()).toEqual([1, 0, 2]);
  });

  test('arrive after the next one, if that is delayed as well', async () => {
    shop.faults.add({ operation, effect: 'reorder', times: 2 });
    expect(await three()).toEqual([2, 1, 0]);
  });

  test('arrive after the next one, and be retried like any other', async () => {
    shop.faults.add({ operation, effect: 'reorder' });
    listener.answer(({ id }) => (id === shop.logs()[0]?.id ? 503 : 200));
    expect(await three()).toEqual([1, 0, 2]);
    // The retries come after 10 and 30 seconds, and the next one not before 70.
    await shop.account.clock.advance(60_000);
    expect(order()).toEqual([1, 0, 2, 0, 0]);
  });

  test('arrive after a minute, if no other follows', async () => {
    shop.faults.add({ operation, effect: 'reorder', times: 3 });
    expect(await three()).toEqual([]);
    await shop.account.clock.advance(59_999);
    expect(order()).toEqual([]);
    await shop.account.clock.advance(1);
    expect(order().toSorted()).toEqual([0, 1, 2]);
  });
});

test('a fault counts first attempts and retries alike', async () => {
  shop.faults.add({ operation, effect: 'lose', times: 3 });
  shop.order();
  await shop.idle();
  await shop.account.clock.advance(30_000);
  expect(listener.came).toEqual([]);
  await shop.account.clock.advance(40_000);
  expect(listener.came).toHaveLength(1);
  expect(shop.logs()).toMatchObject([{ retries: 3, response_code: 200 }]);
});

test('a seed selects the same attempts each time, and another seed selects others', async () => {
  const struck = async (seed: number) => {
    const other = openShop();
    other.subscribe(listener.url);
    other.faults.add({ operation, effect: 'lose', times: 4, among: 20, seed });
    for (let time = 0; time < 20; time++) other.order();
    await other.idle();
    const codes = other.logs().map(({ response_code }) => response_code);
    await other.close();
    return codes.join();
  };
  const first = await struck(7);
  expect(first.match(/\b0\b/g)).toHaveLength(4);
  expect(await struck(7)).toBe(first);
  expect(await struck(8)).not.toBe(first);
});

test('a webhook to a deleted endpoint does not count as an attempt', async () => {
  shop.faults.add({ operation, effect: 'lose' });
  const [first] = shop.account.webhookEndpoints;
  shop.subscribe(`${listener.origin}/another`);
  shop.account.transact(() => {
    shop.order();
    shop.account.webhookEndpoints.delete(first?.id ?? '');
  });
  await shop.idle();
  expect(shop.faults.list()).toEqual([]);
  expect(listener.came).toEqual([]);
});

test('a fault of the sandbox affects the attempts that no fault of the account affects', async () => {
  const everywhere = new Faults();
  const other = openShop({ faults: everywhere });
  other.subscribe(listener.url);
  everywhere.add({ operation, effect: 'lose' });
  other.faults.add({ operation, effect: 'duplicate' });
  other.order();
  other.order();
  await other.idle();
  expect(other.logs().map(({ response_code }) => response_code)).toEqual([200, 0]);
  expect(listener.came).toHaveLength(2);
  await other.close();
});

test('a receiver delivers each order once under all faults', async () => {
  const delivered: string[] = [];
  const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on(
    ['order:paid', 'order:updated'],
    ({ payload }) => void delivered.push(payload.id),
    { name: 'deliver', when: ({ status }) => status === 100, oncePer: ({ id }) => id },
  );
  const { port, close } = await listenToFetch(toFetch(receiver));
  const other = openShop({ clock: 'fast' });
  other.subscribe(`http://127.0.0.1:${port}/webhooks`, ['order:paid', 'order:updated']);
  for (const effect of ['lose', 'lose-answer', 'duplicate', 'late', 'reorder'] as const) {
    other.faults.add({ operation, effect, times: 10, among: 60, seed: effect.length });
  }
  const orders = Array.from({ length: 20 }, () => other.sell().id);
  const isDone = () =>
    expect(other.logs().map(({ response_code }) => response_code)).toEqual(Array(60).fill(200));
  await vi.waitFor(isDone);
  expect(delivered.toSorted()).toEqual(orders.toSorted());
  await other.close();
  await close();
});
