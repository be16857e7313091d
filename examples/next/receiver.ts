import { createReceiver, type Order } from 'storefront-webhooks';

// Called at the first request, because a build has no secrets. Each instance remembers only its own deliveries,
// while it lives: for real goods, pass a `store`, too.
export function makeReceiver() {
  return createReceiver({ secret: process.env.WEBHOOK_SECRET })
    .onPaid(({ payload: order }) => deliver(order))
    .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));
}

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}
