import fastify from 'fastify';
import { toFastify } from '../../dist/fastify.js';
import { listen } from './listen.mjs';
import { receiver } from './receiver.mjs';

const app = fastify();
app.register(toFastify(receiver), { prefix: '/webhooks' });

await app.ready();
listen(app.server);
