import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { toHono } from 'storefront-webhooks/hono';
import type { Application, Contract } from './inside/contract.js';
import { listen } from './inside/listen.js';

export const application: Application = { name: 'toHono', serve, parsed: /above every middleware/ };

function makeHono({ receiver, lazy, down, goods }: Contract): Hono {
  const app = new Hono();
  app.all('/webhooks', toHono(receiver));
  app.all('/lazy', toHono(lazy));
  app.all('/down', toHono(down));
  app.all('/goods', toHono(goods));
  app.use('/parsed', async (context, next) => {
    // Read the raw request directly: Hono's own methods would keep the bytes.
    await context.req.raw.json();
    await next();
  });
  app.all('/parsed', toHono(receiver));
  app.post('/echo', async (context) => context.json(await context.req.json()));
  return app;
}

function serve(contract: Contract) {
  const server = createAdaptorServer({ fetch: makeHono(contract).fetch });
  return listen(server as Server);
}
