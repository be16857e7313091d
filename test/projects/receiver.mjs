import { createReceiver } from 'storefront-webhooks';

export const makeReceiver = () =>
  createReceiver({ secret: process.env.WEBHOOK_SECRET }).onPaid(async ({ payload: order }) =>
    console.log(`delivered ${order.id}`),
  );
