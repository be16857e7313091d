import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toKoa } from 'storefront-webhooks/koa';

const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

const webhooks = new Router().post('/webhooks', toKoa(receiver));

const shop = new Router().post('/products', (context) => {
  context.status = 201;
  context.body = context.request.body;
});

// Keep the webhooks above the parser: the signature covers the bytes as they were sent.
const app = new Koa().use(webhooks.routes()).use(bodyParser()).use(shop.routes());

const server = app.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
  });
}
