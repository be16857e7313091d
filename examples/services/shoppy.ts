import { createReceiver } from 'storefront-webhooks';

/** Shoppy: only the body names the event, and an order that has a `paid_at` is paid. */
export const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  headerPrefix: 'X-Shoppy-',
  unwrap: ({ event, data }) => {
    const { order, product } = Object(data);
    // Without an order, as for a query, `data` is the record itself.
    if (order === undefined) return { event, payload: data };
    const { paid_at, custom_fields, delivered, ...rest } = Object(order);
    const status = paid_at ? 100 : 0;
    return { event, payload: { ...rest, paid_at, product, status, custom: custom_fields } };
  },
});
