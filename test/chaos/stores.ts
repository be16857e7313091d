import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startPostgres } from '../support/postgres.js';
import { startRedis } from '../support/redis.js';
import type { Program } from './build.js';
import { type Environment, nextMessage, startChild } from './children.js';
import { endWithUs } from './ending-redis.js';
import { EFFECT_TABLES, FILL_STOCK } from './inside/effects.js';
import type { Task } from './messages.js';

export const STORES = ['sqlite', 'postgres', 'redis'] as const;
/** Queues, each before the store of its own server. */
export const QUEUES = ['bullmq', 'pg-boss'] as const;
export type StoreName = (typeof STORES)[number] | (typeof QUEUES)[number];

/** A server that connections are made to, and that can be restarted. */
export interface TestedServer {
  /** What names its address to the processes. */
  readonly variable: 'CHAOS_POSTGRES' | 'CHAOS_REDIS';
  readonly port: number;
  /** @param isCrash - It has no time to put its things in order, where it knows of that. */
  stop(isCrash: boolean): Promise<void>;
  start(): Promise<void>;
}

/** A store on fresh servers of its own, and the database of its effects. */
export interface TestedStore {
  readonly name: StoreName;
  readonly handsOff: boolean;
  /** The Node that its processes run on. */
  readonly node: string;
  readonly programs: Readonly<Record<Program, string>>;
  readonly environment: Environment;
  /** First the store's own, then that of the effects where it is another one. */
  readonly servers: readonly TestedServer[];
  /** As `environment`, with an empty database in the same place. */
  fresh(): Promise<Environment>;
  /** Counts effects. */
  readonly query: Query;
  /** Counts what the processes wrote down of their handlers: in the same place, but for {@link withBooks}. */
  readonly queryRuns: Query;
  remove(): Promise<void>;
}

type Query = (sql: string) => Promise<Record<string, unknown>[]>;

// Node 20 has no SQLite.
const NODE_24 = nodeOf(24);

/** A Node that `npm --prefix test/runtimes ci` has installed. */
export function nodeOf(version: 20 | 22 | 24): string {
  const path = `../runtimes/node_modules/node${version}/bin/node`;
  return fileURLToPath(new URL(path, import.meta.url));
}

export async function startStore(
  name: StoreName,
  programs: Readonly<Record<Program, string>>,
): Promise<TestedStore> {
  const store = await (name === 'sqlite' ? startSqlite(programs) : startServers(name, programs));
  if (name !== 'sqlite') await makeTables(store.query);
  return store;
}

/**
 * The same store, whose processes write down what their handlers do on a server of its own: what is to
 * be restarted cannot tell what happened meanwhile.
 */
export async function withBooks(store: TestedStore): Promise<TestedStore> {
  const postgres = await startPostgres();
  const pool = toPool(postgres.url);
  const queryRuns = toQuery(pool);
  await makeTables(queryRuns);
  return {
    ...store,
    environment: { ...store.environment, CHAOS_BOOKS: postgres.url },
    queryRuns,
    async remove() {
      await pool.end();
      await postgres.remove();
    },
  };
}

async function makeTables(query: Query): Promise<void> {
  for (const sql of STATEMENTS) await query(sql);
}

const STATEMENTS = `${EFFECT_TABLES};${FILL_STOCK}`.split(';').filter((sql) => sql.trim());

function toPool(url: string): pg.Pool {
  // The server may be restarted.
  return new pg.Pool({ connectionString: url, max: 2 }).on('error', () => {});
}

function toQuery(pool: pg.Pool): Query {
  return async (sql) => (await pool.query<Record<string, unknown>>(sql)).rows;
}

async function startSqlite(programs: TestedStore['programs']): Promise<TestedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'wh-chaos-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const environment = { CHAOS_STORE: 'sqlite', CHAOS_SQLITE: join(folder, 'webhooks.db') };
  let databases = 0;
  const query: Query = async (sql) => {
    const task = { task: 'sql', statements: [sql] } as const;
    const [rows = []] = await measure<Record<string, unknown>[][]>(store, task);
    return rows;
  };
  const store: TestedStore = {
    name: 'sqlite',
    handsOff: false,
    node: NODE_24,
    programs,
    environment,
    servers: [],
    fresh: async () => ({ ...environment, CHAOS_SQLITE: join(folder, `fresh-${databases++}.db`) }),
    query,
    queryRuns: query,
    remove: async () => removeFolder(),
  };
  await measure(store, { task: 'sql', statements: STATEMENTS });
  return store;
}

async function startServers(
  name: Exclude<StoreName, 'sqlite'>,
  programs: TestedStore['programs'],
): Promise<TestedStore> {
  const postgres = await startPostgres({ max_connections: '300' });
  const isRedis = name === 'redis' || name === 'bullmq';
  const redis = isRedis ? await startRedis() : undefined;
  const leaveAlone = redis && endWithUs(redis.port);
  const handsOff = name === 'bullmq' || name === 'pg-boss';
  const pool = toPool(postgres.url);
  const query = toQuery(pool);
  const environment = {
    CHAOS_STORE: isRedis ? 'redis' : 'postgres',
    CHAOS_QUEUE: handsOff ? name : '',
    CHAOS_POSTGRES: postgres.url,
    CHAOS_REDIS: redis?.url ?? '',
    CHAOS_BOOKS: postgres.url,
  };
  const servers: TestedServer[] = [
    {
      variable: 'CHAOS_POSTGRES',
      port: postgres.port,
      stop: (isCrash) => postgres.stop(isCrash ? 'immediate' : 'fast'),
      start: postgres.start,
    },
  ];
  if (redis) {
    const { port, stop, start } = redis;
    servers.unshift({ variable: 'CHAOS_REDIS', port, stop: () => stop(), start });
  }
  let databases = 0;
  return {
    name,
    handsOff,
    node: process.execPath,
    programs,
    environment,
    servers,
    async fresh() {
      const database = `fresh_${databases++}`;
      await pool.query(`CREATE DATABASE ${database}`);
      const url = new URL(postgres.url);
      url.pathname = database;
      // Redis is emptied where it matters.
      return { ...environment, CHAOS_POSTGRES: url.href };
    },
    query,
    queryRuns: query,
    async remove() {
      await pool.end();
      leaveAlone?.();
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
