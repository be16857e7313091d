import express4 from 'express4';
import { application as express5, serveExpress } from './express.js';
import type { Application } from './inside/contract.js';

export const application: Application = {
  ...express5,
  name: 'toExpress in Express 4',
  serve: (contract) => serveExpress(contract, express4),
};
