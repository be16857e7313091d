import { expect, onTestFinished, test, vi } from 'vitest';
import { openSeller, TUNER } from '../seller.js';
import { startListener } from '../webhooks/listener.js';

const PATH = '/api/v2/webhooks/logs';

/** A seller whose server answers the first webhook with 503 and the next ones with 200. */
async function openSent() {
  const seller = await openSeller({ clock: 'manual' });
  const listener = await startListener();
  onTestFinished(() => listener.close());
  listener.answer((_, number) => ({
    status: number === 1 ? 503 : 200,
    body: number === 1 ? 'busy' : 'thanks',
    headers: { 'X-Seen': 'yes' },
  }));
  const { client, account } = seller;
  await client.webhookEndpoints.create({ url: listener.url, events: ['order:created'] });
  const product = await client.products.create(TUNER);
  const order = await account.buy({ product_id: product.id });
  await vi.waitFor(async () => {
    const [log] = (await client.webhookLogs.list()).items;
    expect(log?.response_code).toBe(503);
  });
  return { ...seller, listener, product, order };
}

test.each([
  ['id', 'string', expect.any(String)],
  ['url', 'destination', expect.stringMatching(/^http:.*\/webhooks$/)],
  ['payload', 'body that was sent', expect.objectContaining({ product_title: 'Pocket tuner' })],
  ['event', 'event name, also sent in the event request header', 'order:created'],
  ['response', 'response body', 'busy'],
  ['response_code', 'HTTP status of the response', 503],
  ['response_headers', 'header name to header value', expect.objectContaining({ 'x-seen': 'yes' })],
  ['retries', 'number of retries so far', 0],
  ['retry_limit', 'maximum retries for this request', 8],
  ['next_retry_at', 'next automatic retry', expect.stringMatching(/\+00:00$/)],
  ['created_at', 'timestamp', expect.stringMatching(/\+00:00$/)],
  ['updated_at', 'timestamp', expect.stringMatching(/\+00:00$/)],
])('[spec: Webhook log] %s: %s', async (field, _, value) => {
  const { send, listener, order } = await openSent();
  const { status, body } = await send('GET', PATH);
  expect([status, body.length]).toEqual([200, 1]);
  const [log] = body;
  expect(log[field]).toEqual(value);
  expect(Object.keys(log)).toHaveLength(12);
  const [came] = listener.came;
  expect([came?.id, came?.event]).toEqual([log.id, log.event]);
  expect(came?.json).toEqual(log.payload);
  expect(log.payload).toEqual(order);
});

test('[spec: Webhook logs] GET /api/v2/webhooks/logs/:id returns the Webhook log with the changes of a retry', async () => {
  const { account, client, send } = await openSent();
  const [first] = (await client.webhookLogs.list()).items;
  const path = `${PATH}/${first?.id}`;
  expect((await send('GET', path)).body).toMatchObject({ response_code: 503, retries: 0 });
  await account.clock.advance(10_000);
  const { body } = await send('GET', path);
  expect(body).toMatchObject({ response_code: 200, retries: 1, next_retry_at: null });
  expect(await client.webhookLogs.get(body.id)).toEqual(body);
});

test('[spec: Webhook logs] newest first, page by page', async () => {
  const { account, product, client, send } = await openSent();
  await client.products.update(product.id, { info: 'A;B;C;D;E;F;G;H;I;J;K' });
  for (let at = 0; at < 11; at++) await account.buy({ product_id: product.id });
  const orders = (await send('GET', '/api/v2/orders')).body;
  const pages = await Promise.all(
    [1, 2].map((page) => send('GET', `${PATH}?per_page=10&page=${page}`)),
  );
  expect(pages.map(({ headers, body }) => [headers.get('x-total-pages'), body.length])).toEqual([
    ['2', 10],
    ['2', 2],
  ]);
  const logs = pages.flatMap(({ body }) => body);
  expect(logs.map(({ payload }) => payload.id)).toEqual(orders.map(({ id }: { id: string }) => id));
});
