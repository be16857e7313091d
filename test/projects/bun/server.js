import { toFetch } from 'storefront-webhooks/fetch';
import { makeReceiver } from './receiver.mjs';

const webhooks = toFetch(makeReceiver());
const server = Bun.serve({
  port: process.env.PORT,
  routes: {
    '/webhooks': webhooks,
    '/parsed': async (request) => {
      await request.json();
      return webhooks(request);
    },
  },
});
console.log(`http://localhost:${server.port}`);
