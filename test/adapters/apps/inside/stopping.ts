import { createServer } from 'node:http';
import Koa from 'koa';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toKoa } from 'storefront-webhooks/koa';
import { toNodeHandler } from 'storefront-webhooks/node';
import { SECRET } from './contract.js';
import { listen } from './listen.js';

/** Exits in the middle of a delivery, as soon as close() resolves. */
const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on('*', async () => {
  await new Promise((resolve) => {
    process.once('SIGTERM', () => setTimeout(resolve, 20));
    console.log('begun');
  });
});

/** A slow middleware that runs after the receiver has answered. */
const koa = new Koa()
  .use(async (_, next) => {
    await next();
    await new Promise((resolve) => setTimeout(resolve, 100));
  })
  .use(toKoa(receiver));

const listener = process.argv[2] === 'koa' ? koa.callback() : toNodeHandler(receiver);
const { port } = await listen(createServer(listener));
console.log(`Listening on http://127.0.0.1:${port}`);

process.once('SIGTERM', async () => {
  await receiver.close();
  process.exit(0);
});
