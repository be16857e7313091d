import { createServer } from 'node:http';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { toKoa } from 'storefront-webhooks/koa';
import type { Application, Contract } from './inside/contract.js';
import { listen } from './inside/listen.js';

export const application: Application = {
  name: 'toKoa in Koa 3',
  serve: (contract) => serveKoa(contract, new Koa()),
  parsed: /above app\.use\(bodyParser/,
};

export function serveKoa({ receiver, lazy, down, goods }: Contract, app: Koa) {
  app.use(at('/webhooks', toKoa(receiver)));
  app.use(at('/lazy', toKoa(lazy)));
  app.use(at('/down', toKoa(down)));
  app.use(at('/goods', toKoa(goods)));
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
