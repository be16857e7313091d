import { createReceiver, type Order } from 'storefront-webhooks';
import { toLambda } from 'storefront-webhooks/lambda';

// Each instance remembers only its own deliveries, while it lives. For real goods, pass a `store`, too.
const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

/** For a function URL, API Gateway (both payload formats), or a load balancer. */
export const handler = toLambda(receiver);
