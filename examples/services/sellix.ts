import { createReceiver } from 'storefront-webhooks';

/** Sellix: the record is in `data`, its id is `uniqid`, and its status a word. */
export const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  headerPrefix: 'X-Sellix-',
  paidStatuses: ['COMPLETED'],
  unwrap: ({ event, data }) => {
    const { uniqid, customer_email, custom_fields, ...rest } = Object(data);
    const named = { id: uniqid, email: customer_email, custom: custom_fields };
    return { event, payload: { ...rest, ...named } };
  },
});
