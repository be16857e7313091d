import { createReceiver } from 'storefront-webhooks';

/** Sellix: the record is in `data`, its id is `uniqid`, and its status is a word. */
export const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  headerPrefix: 'X-Sellix-',
  // In 2020, the status was the number 1.
  paidStatuses: ['COMPLETED', 1],
  unwrap: ({ event, data }) => {
    const { uniqid, customer_email, custom_fields, ...rest } = Object(data);
    if (uniqid === undefined) return { event, payload: data };
    const named = { id: uniqid, email: customer_email, custom: custom_fields };
    return { event, payload: { ...rest, ...named } };
  },
});
