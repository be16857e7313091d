import { createServer } from 'node:http';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { SECRET } from './contract.js';
import { listen } from './listen.js';

/** Ends as soon as its receiver says that it may, in the middle of a delivery. */
const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on('*', async () => {
  await new Promise((resolve) => {
    process.once('SIGTERM', () => setTimeout(resolve, 20));
    console.log('begun');
  });
});

const { port } = await listen(createServer(toNodeHandler(receiver)));
console.log(`Listening on http://127.0.0.1:${port}`);

process.once('SIGTERM', async () => {
  await receiver.close();
  process.exit(0);
});
