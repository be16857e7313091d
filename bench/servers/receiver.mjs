import { createReceiver, memoryStore } from '../../dist/index.js';

/** Schema check, routing and idempotency are on. */
export const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: memoryStore(),
}).on('order:paid', async () => {});
