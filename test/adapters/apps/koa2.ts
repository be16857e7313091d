import Koa2 from 'koa2';
import type { Contract } from './contract.js';
import { serveKoa } from './koa.js';

export const serve = (contract: Contract) => serveKoa(contract, new Koa2());
