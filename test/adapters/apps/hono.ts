import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { toHono } from 'storefront-webhooks/hono';
import type { Contract } from './contract.js';
import { listen } from './listen.js';

export function makeHono({ receiver, lazy, down }: Contract): Hono {
  const app = new Hono();
  app.all('/webhooks', toHono(receiver));
  app.all('/lazy', toHono(lazy));
  app.all('/down', toHono(down));
  app.use('/parsed', async (context, next) => {
    await context.req.json();
    await next();
  });
  app.all('/parsed', toHono(receiver));
  app.post('/echo', async (context) => context.json(await context.req.json()));
  return app;
}

export function serve(contract: Contract) {
  const server = createAdaptorServer({ fetch: makeHono(contract).fetch });
  return listen(server as Server);
}
