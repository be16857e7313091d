import Koa2 from 'koa2';
import type { Application } from './inside/contract.js';
import { application as koa3, serveKoa } from './koa.js';

export const application: Application = {
  ...koa3,
  name: 'toKoa in Koa 2',
  serve: (contract) => serveKoa(contract, new Koa2()),
};
