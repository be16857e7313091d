import { createServer } from 'node:http';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { toKoa } from 'storefront-webhooks/koa';
import type { Contract } from './contract.js';
import { listen } from './listen.js';

export const serve = (contract: Contract) => serveKoa(contract, new Koa());

export function serveKoa({ receiver, lazy, down }: Contract, app: Koa) {
  app.use(at('/webhooks', toKoa(receiver)));
  app.use(at('/lazy', toKoa(lazy)));
  app.use(at('/down', toKoa(down)));
  app.use(bodyParser());
  app.use(at('/parsed', toKoa(receiver)));
  app.use((context) => {
    context.body = context.request.body;
  });
  return listen(createServer(app.callback()));
}

function at(path: string, middleware: Middleware): Middleware {
  return (context, next) => (context.path === path ? middleware(context, next) : next());
}
