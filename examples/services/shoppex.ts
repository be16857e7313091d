import { createReceiver } from 'storefront-webhooks';

/** Shoppex: the record is in `data`, and its status a word. */
export const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  headerPrefix: 'X-Shoppex-',
  paidStatuses: ['COMPLETED'],
  unwrap: ({ event, data }) => {
    const { uniqid, customer_email, ...rest } = Object(data);
    return { event, payload: { id: uniqid, email: customer_email, ...rest } };
  },
});
