import type { Claimable } from 'storefront-webhooks';
import { openDatabase } from './database-sync.js';
import { postgresUrl, redisUrl, sqliteFile, storeName } from './open.js';

/** A hand-written alternative: two conditional writes of a single row, with the driver alone. */
export interface Bare {
  /** Claims a new key. Returns its fence. */
  insert(delivery: Claimable, owner: string): Promise<number>;
  /** Marks a key as done. Returns whether the fence was still the latest one. */
  complete(key: string, fence: number): Promise<boolean>;
}

export function openBare(connections: number): Promise<Bare> | Bare {
  if (storeName === 'sqlite') return bareSqlite();
  return storeName === 'postgres' ? barePostgres(connections) : bareRedis();
}

const COLUMNS = 'key, owner, fence, state, body';

async function barePostgres(max: number): Promise<Bare> {
  const { Pool } = await import('pg');
  const pool = new Pool({ connectionString: postgresUrl, max });
  await pool.query(`CREATE TABLE IF NOT EXISTS bare (key bytea PRIMARY KEY, owner uuid NOT NULL,
    fence bigint NOT NULL, state text NOT NULL, body bytea)`);
  const insert = {
    name: 'bare-insert',
    text: `INSERT INTO bare (${COLUMNS}) VALUES ($1, $2, 1, 'leased', $3)
      ON CONFLICT DO NOTHING RETURNING fence::float8`,
  };
  const complete = {
    name: 'bare-complete',
    text: `UPDATE bare SET state = 'done', body = NULL
      WHERE key = $1 AND fence = $2 AND state = 'leased'`,
  };
  return {
    async insert({ key, body }, owner) {
      const values = [Buffer.from(key, 'hex'), owner, body];
      const { rows } = await pool.query<{ fence: number }>({ ...insert, values });
      return rows[0]?.fence ?? 0;
    },
    async complete(key, fence) {
      const values = [Buffer.from(key, 'hex'), fence];
      return (await pool.query({ ...complete, values })).rowCount === 1;
    },
  };
}

function bareSqlite(): Bare {
  const database = openDatabase(sqliteFile);
  database.exec(`CREATE TABLE IF NOT EXISTS bare (key TEXT PRIMARY KEY, owner TEXT NOT NULL,
    fence INTEGER NOT NULL, state TEXT NOT NULL, body BLOB)`);
  const insert = database.prepare(
    `INSERT INTO bare (${COLUMNS}) VALUES (?, ?, 1, 'leased', ?) ON CONFLICT DO NOTHING`,
  );
  const complete = database.prepare(
    `UPDATE bare SET state = 'done', body = NULL WHERE key = ? AND fence = ? AND state = 'leased'`,
  );
  return {
    insert: async ({ key, body = null }, owner) => Number(insert.run(key, owner, body).changes),
    complete: async (key, fence) => Number(complete.run(key, fence).changes) === 1,
  };
}

async function bareRedis(): Promise<Bare> {
  const { Redis } = await import('ioredis');
  const client = new Redis(redisUrl);
  const complete = `if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[1], 'done', 'PX', ARGV[2]) return 1`;
  const keepMs = 30 * 24 * 60 * 60 * 1000;
  const sha = (await client.script('LOAD', complete)) as string;
  return {
    async insert({ key, body = new Uint8Array() }, owner) {
      const value = Buffer.concat([Buffer.from(`1:${owner}:`), body]);
      const set = await client.set(`bare:${key}`, value, 'PX', 60_000, 'NX');
      owners.set(key, owner);
      return set === 'OK' ? 1 : 0;
    },
    async complete(key, fence) {
      const value = `${fence}:${owners.get(key)}:`;
      owners.delete(key);
      return (await client.evalsha(sha, 1, `bare:${key}`, value, keepMs)) === 1;
    },
  };
}

const owners = new Map<string, string>();
