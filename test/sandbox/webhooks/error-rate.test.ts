import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Listener, startListener } from './listener.js';
import { openShop } from './shop.js';

let listener: Listener;
let shop: ReturnType<typeof openShop>;
beforeEach(async () => {
  listener = await startListener();
  // So that a 404 is given up at once.
  shop = openShop({ unknowns: { retries: 'server-errors' } });
});
afterEach(async () => {
  await shop.close();
  await listener.close();
});

/** Has so many webhooks sent that are answered alike. */
async function send(times: number, answer = 200) {
  listener.answer(answer);
  for (let time = 0; time < times; time++) shop.order();
  await shop.idle();
}
const isEnabled = (id: string) => shop.account.webhookEndpoints.get(id)?.enabled;

describe('[spec: Webhook endpoint] an endpoint with a high error rate is disabled', () => {
  test('once half of its last 20 webhooks were given up, and no other endpoint is', async () => {
    const failing = shop.subscribe('https://10.0.0.1/');
    const working = shop.subscribe(listener.url);
    await send(19);
    expect(shop.account.webhookEndpoints.get(failing.id)).toEqual(failing);
    await send(1);
    const disabled = shop.account.webhookEndpoints.get(failing.id);
    expect(disabled).toEqual({ ...failing, enabled: false, updated_at: disabled?.updated_at });
    expect(disabled?.updated_at.localeCompare(failing.updated_at)).toBe(1);
    expect(shop.account.webhookEndpoints.get(working.id)).toEqual(working);

    const sent = shop.logs().length;
    await send(1);
    const told = shop.logs().slice(sent);
    expect(told.map(({ endpoint_id }) => endpoint_id)).toEqual([working.id]);
  });

  test('not before half of them were, and of the last 20 only', async () => {
    const { id } = shop.subscribe(listener.url);
    await send(9, 404);
    await send(11, 200);
    // The first that have failed are forgotten one by one.
    await send(5, 404);
    expect(isEnabled(id)).toBe(true);
    await send(4, 404);
    expect(isEnabled(id)).toBe(true);
    await send(1, 404);
    expect(isEnabled(id)).toBe(false);
  });

  test('not by failures that a retry makes good', async () => {
    const { id } = shop.subscribe(listener.url);
    await send(30, 503);
    listener.answer(200);
    await shop.account.clock.advance(10_000);
    expect(listener.came).toHaveLength(60);
    expect(shop.logs().every(({ response_code }) => response_code === 200)).toBe(true);
    expect(isEnabled(id)).toBe(true);
  });

  test('a webhook_url is none, and is sent to for ever', async () => {
    const product = shop.product({ webhook_url: listener.url });
    listener.answer(404);
    for (let time = 0; time < 15; time++) shop.sell(product);
    await shop.idle();
    const before = listener.came.length;
    shop.sell(product);
    await shop.idle();
    expect(listener.came.length).toBe(before + 2);
  });
});
