import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toHono } from 'storefront-webhooks/hono';

const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

const app = new Hono()
  .post('/webhooks', toHono(receiver))
  .post('/products', async (context) => context.json(await context.req.json(), 201));

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
  });
}
