import { createReceiver, type Order } from 'storefront-webhooks';
import { toFetch } from 'storefront-webhooks/fetch';

const receiver = createReceiver({ secret: Deno.env.get('WEBHOOK_SECRET') })
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

const webhooks = toFetch(receiver);

// Patterns, because new URL(request.url) throws if the Host header is not a valid host, such as "a b[".
const isWebhook = new URLPattern({ pathname: '/webhooks' });
const isProduct = new URLPattern({ pathname: '/products' });

const server = Deno.serve(
  {
    port: Number(Deno.env.get('PORT') ?? 3000),
    onListen: ({ port }) => console.log(`Listening on http://localhost:${port}/webhooks`),
  },
  async (request) => {
    if (isWebhook.test(request.url)) return webhooks(request);
    if (isProduct.test(request.url) && request.method === 'POST') {
      return Response.json(await request.json(), { status: 201 });
    }
    return new Response('Not found', { status: 404 });
  },
);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  Deno.addSignalListener(signal, async () => {
    await receiver.close({ server });
    Deno.exit();
  });
}
