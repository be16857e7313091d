// A shop's own process, to be killed: the receiver of a file, served on a port.
import { createServer } from 'node:http';
import { toNodeHandler } from 'storefront-webhooks/node';
import { receiver } from '../cli/recover/receiver.js';

const server = createServer(toNodeHandler(receiver));
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening'));
