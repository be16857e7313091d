import { randomUUID } from 'node:crypto';
import type { IdempotencyStore } from 'storefront-webhooks';
import { openDatabase } from './database-sync.js';
import { deliveryOf } from './deliveries.js';
import { open, postgresUrl, redisUrl, sqliteFile, storeName } from './open.js';

const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const AT_ONCE = 100;

/** Adds done deliveries, many at once. Returns their keys. */
export async function fill(store: IdempotencyStore, rows: number, keepMs = KEEP_MS): Promise<void> {
  const terms = { leaseMs: 60_000, keepMs, maxCrashes: 5 };
  let left = rows;
  const lane = async () => {
    while (left-- > 0) {
      const key = randomUUID().replaceAll('-', '') + randomUUID().replaceAll('-', '');
      // The length of a real sender's id.
      const delivery = { ...deliveryOf(key), id: `whl_${key.slice(0, 24)}` };
      const claim = await store.claim(delivery, { ...terms, owner: randomUUID() });
      if (claim.state !== 'acquired') throw new Error(`A fresh key is ${claim.state}.`);
      // The receiver records a step if a delivery has more than one handler.
      await store.completeStep(key, claim.fence, 'order:paid', null);
      await store.complete(key, claim.fence, keepMs);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Bytes of a done row, including its indexes and everything else. */
export interface Size {
  /** The size if the database vacuums between the writes, as in a shop. */
  readonly vacuumed: number;
  /** The size if all rows are written at once. */
  readonly atOnce: number;
}

/** The rows added between two vacuums: by the store's own setting, a fiftieth of a large table. */
const BETWEEN = 1_000;

export async function measureSizes({ rows }: { rows: number }): Promise<Size> {
  const size = await sizeOf();
  const { store } = await open();
  await fill(store, 10);
  const empty = await size();
  for (let filled = 0; filled < rows; filled += BETWEEN) {
    await fill(store, BETWEEN);
    await size();
  }
  const vacuumed = await size();
  const more = rows / 4;
  await fill(store, more);
  return { vacuumed: (vacuumed - empty) / rows, atOnce: ((await size()) - vacuumed) / more };
}

/** The size of the data that the store has written so far; in PostgreSQL, after a vacuum. */
async function sizeOf(): Promise<() => Promise<number>> {
  if (storeName === 'sqlite') {
    const database = openDatabase(sqliteFile);
    return async () => {
      const { bytes } = database
        .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
        .get() as { bytes: number };
      return bytes;
    };
  }
  if (storeName === 'redis') {
    const { Redis } = await import('ioredis');
    const client = new Redis(redisUrl);
    await client.flushall();
    return async () => {
      const info = await client.info('memory');
      return Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
    };
  }
  const { Pool } = await import('pg');
  const pool = new Pool({ connectionString: postgresUrl, max: 1 });
  return async () => {
    await pool.query('VACUUM');
    const { rows } = await pool.query<{ bytes: number }>(
      `SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::float8 AS bytes FROM pg_class AS c
       JOIN pg_namespace AS n ON n.oid = c.relnamespace
       WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`,
    );
    return rows[0]?.bytes ?? 0;
  };
}
