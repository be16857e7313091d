import { createReceiver } from 'storefront-webhooks';

/** Shoppy: the event is in the body alone, and an order is paid once it says when. */
export const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  headerPrefix: 'X-Shoppy-',
  unwrap: ({ event, data }) => {
    const { order, product } = Object(data);
    const { paid_at, custom_fields, ...rest } = Object(order);
    const status = paid_at ? 100 : 0;
    return { event, payload: { ...rest, paid_at, product, status, custom: custom_fields } };
  },
});
