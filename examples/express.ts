import type { AddressInfo } from 'node:net';
import express from 'express';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';

const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

const app = express();

// Keep this above express.json(): the signature covers the bytes as they were sent.
app.post('/webhooks', toExpress(receiver));

app.use(express.json());
app.post('/products', (request, response) => {
  response.status(201).json(request.body);
});

const server = app.listen(process.env.PORT ?? 3000, (error) => {
  if (error) throw error;
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
  });
}
