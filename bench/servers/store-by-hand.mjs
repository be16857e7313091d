import { createServer } from 'node:http';
import express from 'express';
import { HANDLED, isGenuine, REJECTED } from './by-hand.mjs';
import { connect } from './connect.mjs';
import { listen } from './listen.mjs';

/** Two statements: the first claims a new id, the second marks it as done. */
const byHand = {
  async postgres(pool) {
    await pool.query(
      'CREATE TABLE IF NOT EXISTS by_hand (id text PRIMARY KEY, done_at timestamptz)',
    );
    return {
      claim: async (id) =>
        (await pool.query('INSERT INTO by_hand (id) VALUES ($1) ON CONFLICT DO NOTHING', [id]))
          .rowCount === 1,
      complete: (id) => pool.query('UPDATE by_hand SET done_at = now() WHERE id = $1', [id]),
    };
  },
  sqlite(database) {
    // The settings that make SQLite as durable as the package's store.
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec('CREATE TABLE IF NOT EXISTS by_hand (id TEXT PRIMARY KEY, done_at INTEGER)');
    const claim = database.prepare('INSERT INTO by_hand (id) VALUES (?) ON CONFLICT DO NOTHING');
    const complete = database.prepare('UPDATE by_hand SET done_at = unixepoch() WHERE id = ?');
    return { claim: (id) => claim.run(id).changes === 1, complete: (id) => complete.run(id) };
  },
  redis: (client) => ({
    claim: async (id) => (await client.set(`by-hand:${id}`, 'claimed', 'EX', 60, 'NX')) === 'OK',
    complete: (id) => client.set(`by-hand:${id}`, 'done', 'EX', 30 * 24 * 60 * 60),
  }),
};
const store = await byHand[process.env.STORE](await connect());

const handler = async () => {};

const app = express();
app.post('/webhooks', express.raw({ type: () => true }), async (request, response) => {
  if (!isGenuine(request.body, request.get('x-service-signature'))) {
    response.status(401).json(REJECTED);
    return;
  }
  const id = request.get('x-service-webhook');
  if (await store.claim(id)) {
    await handler(JSON.parse(request.body.toString()));
    await store.complete(id);
  }
  response.json(HANDLED);
});

listen(createServer(app));
