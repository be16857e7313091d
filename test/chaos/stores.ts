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
/** Queues, each in front of the store of its own server. */
export const QUEUES = ['bullmq', 'pg-boss'] as const;
export type StoreName = (typeof STORES)[number] | (typeof QUEUES)[number];

/** A server for connections, which can be restarted. */
export interface TestedServer {
  /** The name of the variable with its address. */
  readonly variable: 'CHAOS_POSTGRES' | 'CHAOS_REDIS';
  readonly port: number;
  /** @param isCrash - Gives it no time to shut down, if it distinguishes that. */
  stop(isCrash: boolean): Promise<void>;
  start(): Promise<void>;
}

/** A store on its own new servers, and the database of its effects. */
export interface TestedStore {
  readonly name: StoreName;
  readonly handsOff: boolean;
  /** The Node that its processes run on. */
  readonly node: string;
  readonly programs: Readonly<Record<Program, string>>;
  readonly environment: Environment;
  /** First the store's own servers, then the database of the effects if it is separate. */
  readonly servers: readonly TestedServer[];
  /** Returns an environment like `environment`, with an empty database on the same server. */
  fresh(): Promise<Environment>;
  /** Counts effects. */
  readonly query: Query;
  /** Counts the handlers' records: in the same place, except with {@link withBooks}. */
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

/** @param environment - Further variables of the environment of its processes and of PostgreSQL. */
export async function startStore(
  name: StoreName,
  programs: Readonly<Record<Program, string>>,
  environment: Environment = {},
): Promise<TestedStore> {
  const store = await (name === 'sqlite'
    ? startSqlite(programs, environment)
    : startServers(name, programs, environment));
  if (name !== 'sqlite') await makeTables(store.query);
  return store;
}

/**
 * Returns the same store, whose processes keep their handlers' records on a separate server, because a server that is
 * restarted cannot record what happens meanwhile.
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

async function startSqlite(
  programs: TestedStore['programs'],
  further: Environment,
): Promise<TestedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'wh-chaos-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const environment = {
    ...further,
    CHAOS_STORE: 'sqlite',
    CHAOS_SQLITE: join(folder, 'webhooks.db'),
  };
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
  further: Environment,
): Promise<TestedStore> {
  const postgres = await startPostgres({ max_connections: '300' }, further);
  const isRedis = name === 'redis' || name === 'bullmq';
  const redis = isRedis ? await startRedis() : undefined;
  const leaveAlone = redis && endWithUs(redis.port);
  const handsOff = name === 'bullmq' || name === 'pg-boss';
  const pool = toPool(postgres.url);
  const query = toQuery(pool);
  const environment = {
    ...further,
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
      // Redis is emptied if necessary.
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

/** Makes a separate process count effects, or measure on an empty database. */
export async function measure<Result>(store: TestedStore, task: Task): Promise<Result> {
  const child = startChild(store.node, store.programs.measure, {
    ...(task.task === 'sql' ? store.environment : await store.fresh()),
    CHAOS_TASK: JSON.stringify(task),
  });
  const { result } = await nextMessage<{ result: Result }>(child, () => true);
  return result;
}
