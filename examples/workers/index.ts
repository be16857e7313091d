import type { DurableObjectNamespace } from '@cloudflare/workers-types';
import { createReceiver, type Order } from 'storefront-webhooks';
import { durableObjectStore } from 'storefront-webhooks/cloudflare';
import { toWorker, type WorkerContext } from 'storefront-webhooks/workers';

// The class of the store's Durable Objects, which remember deliveries while instances come and go.
export { WebhookDeliveries } from 'storefront-webhooks/cloudflare';

interface Env {
  readonly WEBHOOK_SECRET: string;
  readonly DELIVERIES: DurableObjectNamespace;
}

const webhooks = toWorker((env: Env) =>
  createReceiver({ secret: env.WEBHOOK_SECRET, store: durableObjectStore(env.DELIVERIES) })
    .onPaid(({ payload: order }) => deliver(order))
    .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`)),
);

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

export default {
  async fetch(request: Request, env: Env, context: WorkerContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks') return webhooks.fetch(request, env, context);
    if (pathname === '/products' && request.method === 'POST') {
      return Response.json(await request.json(), { status: 201 });
    }
    return new Response('Not found', { status: 404 });
  },
};
