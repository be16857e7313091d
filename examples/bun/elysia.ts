import { Elysia } from 'elysia';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toElysia } from 'storefront-webhooks/elysia';

const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

// On Node, with `adapter: node()` of @elysiajs/node, there is no `server` here. Take it from the callback,
// `listen(port, (server) => …)`, and close `server.raw.node.server`.
const { server } = new Elysia()
  .post('/webhooks', toElysia(receiver), { parse: 'none' })
  .post('/products', ({ body, status }) => status(201, body))
  .listen(process.env.PORT ?? 3000);
console.log(`Listening on http://localhost:${server?.port}/webhooks`);

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
  });
}
