import { createServer } from 'node:http';
import express from 'express';
import { toExpress } from '../../dist/express.js';
import { createReceiver } from '../../dist/index.js';
import { connect } from './connect.mjs';
import { listen } from './listen.mjs';

const stores = {
  postgres: async (pool) => (await import('../../dist/postgres.js')).postgresStore(pool),
  sqlite: async (database) => (await import('../../dist/sqlite.js')).sqliteStore(database),
  redis: async (client) => (await import('../../dist/redis.js')).redisStore(client),
};
const store = await stores[process.env.STORE](await connect());

const app = express();
app.post(
  '/webhooks',
  toExpress(
    createReceiver({ secret: process.env.WEBHOOK_SECRET, store }).on('order:paid', async () => {}),
  ),
);

listen(createServer(app));
