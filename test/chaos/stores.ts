import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startPostgres } from '../support/postgres.js';
import { startRedis } from '../support/redis.js';
import type { Program } from './build.js';
import { type Environment, nextMessage, startChild } from './children.js';
import { EFFECT_TABLES, FILL_STOCK } from './inside/effects.js';
import type { Task } from './messages.js';

export const STORES = ['sqlite', 'postgres', 'redis'] as const;
/** Queues, each before the store of its own server. */
export const QUEUES = ['bullmq', 'pg-boss'] as const;
export type StoreName = (typeof STORES)[number] | (typeof QUEUES)[number];

/** A store on fresh servers of its own, and the database of its effects. */
export interface TestedStore {
  readonly name: StoreName;
  readonly handsOff: boolean;
  /** The Node that its processes run on. */
  readonly node: string;
  readonly programs: Readonly<Record<Program, string>>;
  readonly environment: Environment;
  /** As `environment`, with an empty database in the same place. */
  fresh(): Promise<Environment>;
  /** Counts effects. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  remove(): Promise<void>;
}

// Node 20 has no SQLite.
const NODE_24 = fileURLToPath(new URL('../runtimes/node_modules/node24/bin/node', import.meta.url));

export async function startStore(
  name: StoreName,
  programs: Readonly<Record<Program, string>>,
): Promise<TestedStore> {
  const store = await (name === 'sqlite' ? startSqlite(programs) : startServers(name, programs));
  for (const sql of `${EFFECT_TABLES};${FILL_STOCK}`.split(';')) {
    if (name !== 'sqlite' && sql.trim()) await store.query(sql);
  }
  return store;
}

async function startSqlite(programs: TestedStore['programs']): Promise<TestedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'wh-chaos-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const environment = { CHAOS_STORE: 'sqlite', CHAOS_SQLITE: join(folder, 'webhooks.db') };
  let databases = 0;
  const store: TestedStore = {
    name: 'sqlite',
    handsOff: false,
    node: NODE_24,
    programs,
    environment,
    fresh: async () => ({ ...environment, CHAOS_SQLITE: join(folder, `fresh-${databases++}.db`) }),
    async query(sql) {
      const [rows = []] = await measure<Record<string, unknown>[][]>(store, {
        task: 'sql',
        statements: [sql],
      });
      return rows;
    },
    remove: async () => removeFolder(),
  };
  const statements = `${EFFECT_TABLES};${FILL_STOCK}`.split(';').filter((sql) => sql.trim());
  await measure(store, { task: 'sql', statements });
  return store;
}

async function startServers(
  name: Exclude<StoreName, 'sqlite'>,
  programs: TestedStore['programs'],
): Promise<TestedStore> {
  const postgres = await startPostgres({ max_connections: '300' });
  const isRedis = name === 'redis' || name === 'bullmq';
  const redis = isRedis ? await startRedis() : undefined;
  const handsOff = name === 'bullmq' || name === 'pg-boss';
  const pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
  pool.on('error', () => {});
  const environment = {
    CHAOS_STORE: isRedis ? 'redis' : 'postgres',
    CHAOS_QUEUE: handsOff ? name : '',
    CHAOS_POSTGRES: postgres.url,
    CHAOS_REDIS: redis?.url ?? '',
  };
  let databases = 0;
  return {
    name,
    handsOff,
    node: process.execPath,
    programs,
    environment,
    async fresh() {
      const database = `fresh_${databases++}`;
      await pool.query(`CREATE DATABASE ${database}`);
      const url = new URL(postgres.url);
      url.pathname = database;
      // Redis is emptied where it matters.
      return { ...environment, CHAOS_POSTGRES: url.href };
    },
    query: async (sql) => (await pool.query<Record<string, unknown>>(sql)).rows,
    async remove() {
      await pool.end();
      await redis?.remove();
      await postgres.remove();
    },
  };
}

/** Has a process of its own count effects, or measure something on an empty database. */
export async function measure<Result>(store: TestedStore, task: Task): Promise<Result> {
  const child = startChild(store.node, store.programs.measure, {
    ...(task.task === 'sql' ? store.environment : await store.fresh()),
    CHAOS_TASK: JSON.stringify(task),
  });
  const { result } = await nextMessage<{ result: Result }>(child, () => true);
  return result;
}
