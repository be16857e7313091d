import { createServer } from 'node:http';
import express from 'express';
import { toExpress } from '../../dist/express.js';
import { listen } from './listen.mjs';
import { receiver } from './receiver.mjs';

const app = express();
app.post('/webhooks', toExpress(receiver));

listen(createServer(app));
