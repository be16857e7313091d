import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';
import { createReceiver, type Receiver } from 'storefront-webhooks';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import { redisStore } from 'storefront-webhooks/redis';
import { sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';

/** A shop on a store, which also counts its deliveries there. One process is killed, and another one recovers. */
export interface MortalShop {
  readonly receiver: Receiver;
  /** The ids of delivered orders, each as often as it was delivered. */
  delivered(): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Opens the shop.
 *
 * @param place - `postgres://…`, `redis://…`, or a SQLite file.
 * @param ms - How long a delivery takes.
 */
export function openMortalShop(place: string, secret: string, ms: number): Promise<MortalShop> {
  if (place.startsWith('postgres:')) return onPostgres(place, secret, ms);
  return place.startsWith('redis:') ? onRedis(place, secret, ms) : onSqlite(place, secret, ms);
}

const NAMED = { name: 'deliver' };

async function onSqlite(file: string, secret: string, ms: number): Promise<MortalShop> {
  const database = new Database(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000');
  database.exec('CREATE TABLE IF NOT EXISTS delivered (order_id TEXT)');
  const ledger = sqliteLedger();
  const receiver = createReceiver({ secret, store: sqliteStore(database) }).on(
    'order:paid',
    async (event) => {
      await sleep(ms);
      await ledger.transaction(database, event, (tx) => {
        tx.prepare('INSERT INTO delivered VALUES (?)').run(event.payload.id);
      });
    },
    NAMED,
  );
  return {
    receiver,
    delivered: async () =>
      database.prepare('SELECT order_id FROM delivered').pluck().all() as string[],
    close: async () => void database.close(),
  };
}

async function onPostgres(url: string, secret: string, ms: number): Promise<MortalShop> {
  const pool = new pg.Pool({ connectionString: url });
  await pool.query('CREATE TABLE IF NOT EXISTS delivered (order_id TEXT)');
  const ledger = postgresLedger(pool);
  const receiver = createReceiver({ secret, store: postgresStore(pool) }).on(
    'order:paid',
    async (event) => {
      await sleep(ms);
      await ledger.transaction(pool, event, (tx) =>
        tx.query('INSERT INTO delivered VALUES ($1)', [event.payload.id]),
      );
    },
    NAMED,
  );
  return {
    receiver,
    async delivered() {
      const { rows } = await pool.query<{ order_id: string }>('SELECT order_id FROM delivered');
      return rows.map(({ order_id }) => order_id);
    },
    close: () => pool.end(),
  };
}

/** Redis has no ledger: a process that is killed between a delivery and its record delivers again. */
async function onRedis(url: string, secret: string, ms: number): Promise<MortalShop> {
  const client = new Redis(url);
  const receiver = createReceiver({ secret, store: redisStore(client) }).on(
    'order:paid',
    async ({ payload }) => {
      await sleep(ms);
      await client.rpush('delivered', payload.id);
    },
    NAMED,
  );
  return {
    receiver,
    delivered: () => client.lrange('delivered', 0, -1),
    close: async () => void (await client.quit()),
  };
}
