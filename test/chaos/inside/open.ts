import type { IdempotencyStore } from 'storefront-webhooks';
import { brokenStore } from './broken-store.js';
import { POOL_LIMITS, REDIS_LIMITS } from './clients.js';
import { openDatabase } from './database-sync.js';
import { type Effects, postgresEffects, sqliteEffects } from './effects.js';

/** The store of this process, on its own connection, and the place of its effects. */
export interface Opened {
  readonly store: IdempotencyStore;
  readonly effects: Effects;
  close(): Promise<void>;
}

/** The settings that stores.ts passes as `environment`. */
export const storeName = process.env.CHAOS_STORE ?? '';
export const sqliteFile = process.env.CHAOS_SQLITE ?? '';
export const postgresUrl = process.env.CHAOS_POSTGRES ?? '';
export const redisUrl = process.env.CHAOS_REDIS ?? '';
const booksUrl = process.env.CHAOS_BOOKS ?? '';

/** Loads only what is needed, because these processes start often. */
export async function open({ connections = 8 } = {}): Promise<Opened> {
  if (storeName === 'sqlite') return openSqlite();
  const { Pool } = await import('pg');
  const { postgresLedger } = await import('storefront-webhooks/postgres');
  const connect = () => {
    const settings = { connectionString: postgresUrl, max: connections, ...POOL_LIMITS };
    return new Pool(settings).on('error', () => {});
  };
  const pool = connect();
  // The harness's own connection, which no fault hits.
  const books = new Pool({ connectionString: booksUrl, max: 4 }).on('error', () => {});
  const effects = postgresEffects(pool, books, postgresLedger(pool));
  const { store, close } = await openStore({ connections });
  return {
    store,
    effects,
    close: async () => {
      await Promise.all([close(), pool.end(), books.end()]);
    },
  };
}

/** Opens the store of this process without the database of effects. */
export async function openStore({ connections = 8 } = {}): Promise<Omit<Opened, 'effects'>> {
  if (storeName === 'sqlite') return openSqlite();
  if (storeName === 'postgres') {
    const { Pool } = await import('pg');
    const { postgresStore } = await import('storefront-webhooks/postgres');
    const settings = { connectionString: postgresUrl, max: connections, ...POOL_LIMITS };
    const pool = new Pool(settings).on('error', () => {});
    return { store: broken(postgresStore(pool)), close: () => pool.end() };
  }
  const { Redis } = await import('ioredis');
  const { redisStore } = await import('storefront-webhooks/redis');
  const client = new Redis(redisUrl, REDIS_LIMITS);
  client.on('error', () => {});
  return { store: broken(redisStore(client)), close: async () => client.disconnect() };
}

async function openSqlite(): Promise<Opened> {
  const { sqliteStore, sqliteLedger } = await import('storefront-webhooks/sqlite');
  const database = openDatabase(sqliteFile);
  return {
    store: broken(sqliteStore(database)),
    effects: sqliteEffects(database, sqliteLedger()),
    close: async () => database.close(),
  };
}

function broken(store: IdempotencyStore): IdempotencyStore {
  const how = process.env.CHAOS_BREAK;
  return how ? brokenStore(store, how) : store;
}
