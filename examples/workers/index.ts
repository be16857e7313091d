import { createReceiver, type Order } from 'storefront-webhooks';
import { toWorker } from 'storefront-webhooks/workers';

interface Env {
  WEBHOOK_SECRET: string;
}

// Instances come and go, and remember for themselves only: for real goods, pass a `store` as well.
const webhooks = toWorker((env: Env) =>
  createReceiver({ secret: env.WEBHOOK_SECRET })
    .on('order:paid', ({ payload: order }) => deliver(order), {
      name: 'deliver',
      oncePer: (order) => order.id,
    })
    .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`)),
);

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks') return webhooks.fetch(request, env, context);
    if (pathname === '/products' && request.method === 'POST') {
      return Response.json(await request.json(), { status: 201 });
    }
    return new Response('Not found', { status: 404 });
  },
} satisfies ExportedHandler<Env>;
