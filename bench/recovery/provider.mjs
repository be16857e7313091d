import { once } from 'node:events';
import { createServer } from 'node:http';
import { createReceiver, memoryStore } from '../../dist/index.js';
import { toNodeHandler } from '../../dist/node.js';
import { KEY, makeProduct } from '../sandbox/product.mjs';

/** A sandbox whose log has a number of entries, each answered by a receiver. Prints its address. */
const entries = Number(process.argv[2]);
const { sandbox, client, account, product } = await makeProduct({ clock: 'manual' });
const secret = account.settings.webhook_secret;
const receiver = createReceiver({ secret, store: memoryStore() }).on('order:created', () => {});
const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}/webhooks`;
await client.webhookEndpoints.create({ url, events: ['order:created'] });
for (let bought = 1; bought <= entries; bought++) {
  await account.buy({ product_id: product.id });
  if (bought % 500 === 0) await account.idle();
}
await account.idle();
const { url: baseUrl } = await sandbox.listen();
console.log(JSON.stringify({ baseUrl, key: KEY, secret, url, now: account.clock.now() }));
process.stdin.resume().on('end', () => process.exit());
