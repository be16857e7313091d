import { createServer } from 'node:http';
import { toNodeHandler } from '../../dist/node.js';
import { listen } from './listen.mjs';
import { receiver } from './receiver.mjs';

listen(createServer(toNodeHandler(receiver)));
