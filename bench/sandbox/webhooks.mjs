import { once } from 'node:events';
import { createServer } from 'node:http';
import { makeProduct } from './product.mjs';

const ORDERS = 2_000;
const ENDPOINTS = 4;

/** Measures how many webhooks the sandbox sends a second, each with its log, to a server that only answers. */
export async function benchWebhooks() {
  let came = 0;
  const server = createServer((request, response) => {
    came += 1;
    request.resume().on('end', () => response.end('{}'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${server.address().port}`;
  const { sandbox, client, account, product } = await makeProduct();
  for (let count = 0; count < ENDPOINTS; count++) {
    await client.webhookEndpoints.create({ url: `${origin}/${count}`, events: ['order:created'] });
  }
  const startedAt = performance.now();
  for (let count = 0; count < ORDERS; count++) await account.buy({ product_id: product.id });
  await account.idle();
  const perSecond = came / ((performance.now() - startedAt) / 1000);
  const { totalPages } = await client.webhookLogs.list({ perPage: 50 });
  const logs = totalPages * 50;
  console.log(`\n${came} webhooks to ${ENDPOINTS} URLs, one after the other to each`);
  console.log(`  sent${perSecond.toFixed(0).padStart(39)} a second`);
  if (came !== ORDERS * ENDPOINTS || logs !== came) console.log('  NOT EACH was sent and logged');
  await sandbox.close();
  server.close();
}
