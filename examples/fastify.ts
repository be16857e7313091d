import Fastify from 'fastify';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toFastify } from 'storefront-webhooks/fastify';

const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

const app = Fastify();

app.register(toFastify(receiver), { prefix: '/webhooks' });

app.post('/products', async (request, reply) => reply.code(201).send(request.body));

// Without a host, Fastify can only be reached from its own machine or container.
const address = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '0.0.0.0' });
console.log(`Listening on ${address}/webhooks`);

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server: app.server });
    await app.close();
  });
}
