// A shop that starts its server in the file of its receiver.
import { createServer } from 'node:http';
import { receiver as makeReceiver } from './receiver.js';

createServer().listen(Number(process.env.PORT ?? 0), '127.0.0.1');

export const receiver = makeReceiver();
