import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';

const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

const webhooks = toNodeHandler(receiver);

const server = createServer(async (request, response) => {
  const [path] = request.url?.split('?') ?? [];
  if (path === '/webhooks') await webhooks(request, response);
  else if (path === '/health') response.end('ok');
  else response.writeHead(404).end();
});

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
  });
}
