import express4 from 'express4';
import type { Contract } from './contract.js';
import { serveExpress } from './express.js';

export const serve = (contract: Contract) => serveExpress(contract, express4);
