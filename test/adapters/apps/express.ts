import { createServer } from 'node:http';
import express from 'express';
import { toExpress } from 'storefront-webhooks/express';
import type { Application, Contract } from './inside/contract.js';
import { listen } from './inside/listen.js';

export const application: Application = {
  name: 'toExpress in Express 5',
  serve: (contract) => serveExpress(contract, express),
  parsed: /above app\.use\(express\.json/,
};

export function serveExpress({ receiver, lazy, down, goods }: Contract, make: typeof express) {
  const app = make();
  app.all('/webhooks', toExpress(receiver));
  app.use('/lazy', toExpress(lazy));
  app.use('/down', toExpress(down));
  app.use('/goods', toExpress(goods));
  app.use(make.json());
  app.all('/parsed', toExpress(receiver));
  app.post('/echo', (request, response) => {
    response.json(request.body);
  });
  return listen(createServer(app));
}
