import { createReceiver, memoryStore } from '../../dist/index.js';

/** A receiver with schema check, routing and idempotency. */
export const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: memoryStore(),
}).on('order:paid', async () => {});
