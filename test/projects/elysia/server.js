import { Elysia } from 'elysia';
import { toElysia } from 'storefront-webhooks/elysia';
import { makeReceiver } from './receiver.mjs';

const webhooks = toElysia(makeReceiver());
const { server } = new Elysia()
  .post('/webhooks', webhooks, { parse: 'none' })
  .post('/parsed', ({ request, body }) => body && webhooks({ request }))
  .listen(process.env.PORT);
console.log(`http://localhost:${server.port}`);
