import { createReceiver } from 'storefront-webhooks';

/** Shoppex: the record is in `data`, and its status is a word. */
export const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  headerPrefix: 'X-Shoppex-',
  paidStatuses: ['COMPLETED'],
  unwrap: ({ event, data }) => {
    const { uniqid, customer_email, custom_fields, ...rest } = Object(data);
    if (uniqid === undefined) return { event, payload: data };
    const named = { id: uniqid, email: customer_email, custom: custom_fields };
    return { event, payload: { ...rest, ...named } };
  },
});
