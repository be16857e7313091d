import { createServer } from 'node:http';
import express from 'express';
import { toExpress } from '../../dist/express.js';
import { createReceiver } from '../../dist/index.js';
import { HANDLED, isGenuine, REJECTED } from './by-hand.mjs';
import { connect } from './connect.mjs';
import { listen } from './listen.mjs';

/**
 * A sale for each order, by `SALE`: `transaction`, a handler in the transaction of the store; `careful`, the
 * transaction that a seller writes by hand; `statements`, three statements by hand, each on its own.
 */
const { STORE, SALE } = process.env;
const client = await connect();
const TABLES = [
  'CREATE TABLE IF NOT EXISTS by_hand (id text PRIMARY KEY, done_at text)',
  'CREATE TABLE IF NOT EXISTS sale (order_id text)',
];
const CLAIM = 'INSERT INTO by_hand (id) VALUES ($1) ON CONFLICT DO NOTHING';
const SELL = 'INSERT INTO sale (order_id) VALUES ($1)';
const DONE = `UPDATE by_hand SET done_at = 'now' WHERE id = $1`;

const postgres = {
  tables: () => client.query(TABLES.join(';')),
  store: async () => (await import('../../dist/postgres.js')).postgresStore(client),
  sell: ({ tx, payload }) => tx.query(SELL, [payload.id]),
  async careful(id, order) {
    const tx = await client.connect();
    try {
      await tx.query('BEGIN');
      if ((await tx.query(CLAIM, [id])).rowCount === 1) await tx.query(SELL, [order.id]);
      await tx.query('COMMIT');
    } catch (error) {
      await tx.query('ROLLBACK');
      throw error;
    } finally {
      tx.release();
    }
  },
  async statements(id, order) {
    if ((await client.query(CLAIM, [id])).rowCount !== 1) return;
    await client.query(SELL, [order.id]);
    await client.query(DONE, [id]);
  },
};

function sqlite() {
  for (const sql of [
    'PRAGMA journal_mode = WAL',
    'PRAGMA synchronous = FULL',
    'PRAGMA busy_timeout = 1000',
    ...TABLES,
  ])
    client.exec(sql);
  const [claim, sell, done] = [CLAIM, SELL, DONE].map((sql) =>
    client.prepare(sql.replace('$1', '?')),
  );
  return {
    tables() {},
    store: async () => (await import('../../dist/sqlite.js')).sqliteStore(client),
    sell: ({ payload }) => void sell.run(payload.id),
    careful(id, order) {
      client.exec('BEGIN IMMEDIATE');
      try {
        if (claim.run(id).changes === 1) sell.run(order.id);
        client.exec('COMMIT');
      } catch (error) {
        client.exec('ROLLBACK');
        throw error;
      }
    },
    statements(id, order) {
      if (claim.run(id).changes !== 1) return;
      sell.run(order.id);
      done.run(id);
    },
  };
}

const database = STORE === 'sqlite' ? sqlite() : postgres;
await database.tables();
const app = express();
if (SALE === 'transaction') {
  const receiver = createReceiver({
    secret: process.env.WEBHOOK_SECRET,
    store: await database.store(),
  }).on('order:paid', database.sell, { name: 'sell', transaction: true });
  app.post('/webhooks', toExpress(receiver));
} else {
  app.post('/webhooks', express.raw({ type: () => true }), async (request, response) => {
    if (!isGenuine(request.body, request.get('x-service-signature'))) {
      response.status(401).json(REJECTED);
      return;
    }
    await database[SALE](request.get('x-service-webhook'), JSON.parse(request.body.toString()));
    response.json(HANDLED);
  });
}

listen(createServer(app));
