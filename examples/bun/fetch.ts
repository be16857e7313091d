import { createReceiver, type Order } from 'storefront-webhooks';
import { toFetch } from 'storefront-webhooks/fetch';

const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

const server = Bun.serve({
  port: process.env.PORT ?? 3000,
  routes: {
    '/webhooks': toFetch(receiver),
    '/products': {
      POST: async (request) => Response.json(await request.json(), { status: 201 }),
    },
  },
});
console.log(`Listening on http://localhost:${server.port}/webhooks`);

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
  });
}
