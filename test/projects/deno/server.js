import process from 'node:process';
import { toFetch } from 'storefront-webhooks/fetch';
import { makeReceiver } from './receiver.mjs';

const webhooks = toFetch(makeReceiver());
Deno.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1' }, async (request) => {
  if (new URL(request.url).pathname === '/parsed') await request.json();
  return webhooks(request);
});
console.log(`http://localhost:${process.env.PORT}`);
