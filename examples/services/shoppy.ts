import { createReceiver } from 'storefront-webhooks';

/** Shoppy: only the body names the event, and fields state whether an order is paid, disputed or refunded. */
export const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  headerPrefix: 'X-Shoppy-',
  unwrap: ({ event, data }) => {
    const { order, product } = Object(data);
    // Without an order, as for a query, `data` is the record itself.
    if (order === undefined) return { event, payload: data };
    const { custom_fields: custom, delivered, ...rest } = Object(order);
    // A refunded or disputed order keeps its `paid_at`.
    const status = rest.refund_id ? 56 : rest.disputed_at ? 51 : rest.paid_at ? 100 : 0;
    return { event, payload: { ...rest, product, status, custom } };
  },
});
