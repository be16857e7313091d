import { createReceiver, type Order, type UnwrapFunction } from 'storefront-webhooks';

/** Recognises the deliveries of a dashboard's test button, which are signed, but have no record. */
const unwrap: UnwrapFunction = (body) =>
  body.simulator || body.dummy ? { event: 'test', payload: body } : undefined;

export const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET, unwrap }).onPaid(
  ({ payload: order }) => deliver(order),
);

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}
