import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStore } from 'storefront-webhooks';
import { createClient } from 'storefront-webhooks/api';
import { createGoods, type GoodsVerifyOptions } from 'storefront-webhooks/goods';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { expect, onTestFinished, test } from 'vitest';

interface Sent {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly event: string;
  readonly status: unknown;
}

/** The signed requests that an account sends to another endpoint, such as a bookkeeping service. */
async function listenToAccount() {
  const sandbox = createSandbox({ clock: 'manual' });
  const account = sandbox.account('sk_test_goods');
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const event = `${request.headers['x-service-event']}`;
    sent.push({ headers: request.headers, body, event, status: JSON.parse(`${body}`).status });
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close().closeAllConnections();
    await sandbox.close();
  });
  const { port } = server.address() as AddressInfo;
  const auth = { accessToken: account.key };
  const client = createClient({ baseUrl: 'http://localhost', auth, fetch: sandbox.fetch });
  await client.webhookEndpoints.create({
    url: `http://localhost:${port}/books`,
    events: [
      ...(['order:created', 'order:updated', 'order:paid', 'product:out_of_stock'] as const),
      ...(['query:created', 'query:replied', 'feedback:created', 'feedback:updated'] as const),
    ],
  });
  const product = await client.products.create({
    ...{ title: 'Key', description: '', price: 9.99, currency: 'USD', gateways: ['paypal'] },
    ...{ product_type: 'serials', info: 'A-1,A-2' },
  });
  const buy = () => account.buy({ product_id: product.id, email: 'ada@example.com' });
  const [paid, refunded] = [await buy(), await buy()];
  for (const { id } of [paid, refunded]) await account.pay(id);
  await account.refund(refunded.id);
  const { id } = await account.ask({ email: 'a@example.com', title: 'Hi', message: 'Hello' });
  await account.write(id, { from: 'seller', text: 'Hello' });
  await account.rate(paid.id, { rating: 5, message: 'Good' });
  await account.idle();
  return { sent, secret: account.settings.webhook_secret, product, paid: [paid.id, refunded.id] };
}

test.each<[string, (product: string) => GoodsVerifyOptions]>([
  ['by its signature alone', () => ({})],
  [
    'with an allow that checks the product',
    (product) => ({ allow: (order) => order.product_id === product }),
  ],
  ['with an allow that accepts everything', () => ({ allow: () => true })],
  ['with an order function', () => ({ order: (body) => body })],
])('a webhook of another endpoint gets goods only if it is a paid order, %s', async (_, verify) => {
  const { sent, secret, product, paid } = await listenToAccount();
  expect(new Set(sent.map(({ event }) => event)).size).toBeGreaterThan(6);
  const made: string[] = [];
  const goods = createGoods(
    { secret, store: memoryStore(), verify: verify(product.id), hooks: { onRejected() {} } },
    ({ id }) => {
      made.push(id);
      return `KEY of ${id}`;
    },
  );
  // All of them at the same time, and twice.
  const answers = await Promise.all(
    [...sent, ...sent].map(async (one) => {
      const { headers, body, event, status } = one;
      const answer = await goods.receive({ method: 'POST', url: '/goods', headers, body });
      return { event, status, answer: answer.status };
    }),
  );
  const isPaid = ({ event, status }: { event: string; status: unknown }) =>
    event.startsWith('order:') && status === 100;
  expect(answers.filter(({ answer }) => answer === 200).every(isPaid)).toBe(true);
  expect(answers.filter(isPaid).every(({ answer }) => answer === 200)).toBe(true);
  expect(made.sort()).toEqual(paid.sort());
});
