import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Listener, startListener } from './listener.js';
import { openShop } from './shop.js';

let listener: Listener;
let shop: ReturnType<typeof openShop>;
beforeEach(async () => {
  listener = await startListener();
  // With this choice, the sandbox gives up on a 404 at once.
  shop = openShop({ unknowns: { retries: 'server-errors' } });
});
afterEach(async () => {
  await shop.close();
  await listener.close();
});

/** Sends a number of webhooks that all get the same answer. */
async function send(times: number, answer = 200) {
  listener.answer(answer);
  for (let time = 0; time < times; time++) shop.order();
  await shop.idle();
}
const isEnabled = (id: string) => shop.account.webhookEndpoints.get(id)?.enabled;

describe('[spec: Webhook endpoint] an endpoint with a high error rate is disabled', () => {
  test('if half of its last 20 webhooks failed for good, and other endpoints stay enabled', async () => {
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

  test('but not while fewer than half failed, counting only the last 20', async () => {
    const { id } = shop.subscribe(listener.url);
    await send(9, 404);
    await send(11, 200);
    // The earlier failures leave the last 20 one by one.
    await send(5, 404);
    expect(isEnabled(id)).toBe(true);
    await send(4, 404);
    expect(isEnabled(id)).toBe(true);
    await send(1, 404);
    expect(isEnabled(id)).toBe(false);
  });

  test('but not because of failures that a retry recovers', async () => {
    const { id } = shop.subscribe(listener.url);
    await send(30, 503);
    listener.answer(200);
    await shop.account.clock.advance(10_000);
    expect(listener.came).toHaveLength(60);
    expect(shop.logs().every(({ response_code }) => response_code === 200)).toBe(true);
    expect(isEnabled(id)).toBe(true);
  });

  test('but a webhook_url is not, and always gets its webhooks', async () => {
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
