import { createServer } from 'node:http';
import express from 'express';
import { toExpress } from 'storefront-webhooks/express';
import type { Contract } from './contract.js';
import { listen } from './listen.js';

export const serve = (contract: Contract) => serveExpress(contract, express);

export function serveExpress({ receiver, lazy, down }: Contract, make: typeof express) {
  const app = make();
  app.all('/webhooks', toExpress(receiver));
  app.use('/lazy', toExpress(lazy));
  app.use('/down', toExpress(down));
  app.use(make.json());
  app.all('/parsed', toExpress(receiver));
  app.post('/echo', (request, response) => {
    response.json(request.body);
  });
  return listen(createServer(app));
}
