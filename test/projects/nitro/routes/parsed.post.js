import { defineEventHandler, fromNodeMiddleware, readBody } from 'h3';
import { toNodeHandler } from 'storefront-webhooks/node';
import { makeReceiver } from '../receiver.mjs';

const webhooks = fromNodeMiddleware(toNodeHandler(makeReceiver));
export default defineEventHandler(async (event) => {
  await readBody(event);
  return webhooks(event);
});
