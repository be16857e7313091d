import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { type IdempotencyStore, UsageError } from 'storefront-webhooks';
import { postgresStore } from 'storefront-webhooks/postgres';
import { redisStore } from 'storefront-webhooks/redis';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { withTimeout } from '../../runtime/timing.js';
import { forward } from '../../stores/contract.js';
import { LAYOUT_KEY } from '../../stores/redis/layout.js';
import type { Host } from '../host.js';
import { limitedSockets } from './limited-sockets.js';

/** A store that was opened by its URL, and the function that closes it. */
export interface OpenStore {
  readonly store: IdempotencyStore;
  /** Returns whether a receiver has used the store; `undefined` if the database does not say. */
  isUsed(): Promise<boolean | undefined>;
  /** A note for the operator if no receiver has used the store. Absent if such a store is not opened. */
  readonly unused?: string;
  close(): Promise<void>;
}

/**
 * Opens a store by its URL, with the driver of the project in the current folder.
 *
 * @param named - The URL, or the environment variable that holds it, because other users of the machine can see
 *   the command line.
 * @param mayCreate - Whether a PostgreSQL database that is no store may become one.
 * @throws {UsageError} If the URL does not name a store, or the project has no driver for it.
 */
export async function openStore(
  named: string,
  { env }: Pick<Host, 'env'> = process,
  mayCreate = false,
): Promise<OpenStore> {
  const value = env[named];
  const url = value || named;
  if (/^postgres(ql)?:/.test(url)) return openPostgres(url, mayCreate);
  if (/^rediss?:/.test(url)) return openRedis(url);
  const isAddress = /^\w\w+:\/\//.test(url);
  if (!isAddress && existsSync(url)) return openSqlite(url);
  // An address has a password, which would end up in a log.
  if (value) {
    throw new UsageError(
      'option_invalid',
      `The variable ${named} holds neither postgres://…, redis://… nor the path of a file that exists. Are there quotes around its value? This command does not create a store.`,
    );
  }
  if (isAddress) {
    throw new UsageError(
      'option_invalid',
      'Name the store by postgres://…, redis://…, the path of a SQLite file, or an environment variable that holds one of these.',
    );
  }
  throw new UsageError(
    'option_invalid',
    `There is no file ${named.replace(/:\/\/.*/s, '://…')}, and no environment variable of that name. This command does not create a store.`,
  );
}

/** How long a driver may take, in milliseconds. Short, because an operator is waiting. */
const TIMEOUT_MS = 10_000;

/** Returns a row if the store holds a delivery or an effect. */
const FIND_ROW = 'SELECT 1 FROM webhook_delivery LIMIT 1';

/** Returns a row if the store's table is there. */
const FIND_TABLE = "SELECT 1 WHERE to_regclass('webhook_delivery') IS NOT NULL";

async function openPostgres(url: string, mayCreate: boolean): Promise<OpenStore> {
  const pg = await load<typeof import('pg')>('pg');
  if (pg) {
    const pool = new pg.Pool({
      connectionString: url,
      query_timeout: TIMEOUT_MS,
      connectionTimeoutMillis: TIMEOUT_MS,
      keepAlive: true,
    });
    pool.on('error', () => {});
    return openTables(async (text) => (await pool.query(text)).rows, {
      store: postgresStore(pool),
      close: () => pool.end(),
      mayCreate,
    });
  }
  const postgres = await load<typeof import('postgres')>('postgres');
  if (!postgres) throw noDriver('PostgreSQL', 'pg');
  return openPostgresJs(postgres, url, mayCreate);
}

/** Opens a store with postgres.js. */
export async function openPostgresJs(
  postgres: typeof import('postgres'),
  url: string,
  mayCreate: boolean,
): Promise<OpenStore> {
  const limits = {
    connect_timeout: TIMEOUT_MS / 1000,
    idle_timeout: 2,
    socket: limitedSockets(TIMEOUT_MS),
  };
  // The types of postgres.js name neither `max_pipeline` nor `socket`.
  const options = { ...limits, max: 2, max_pipeline: 1, fetch_types: false };
  const sql = postgres(url, options);
  return openTables(async (text) => sql.unsafe(text), {
    store: postgresStore(sql),
    close: () => sql.end(),
    mayCreate,
  });
}

async function openTables(
  query: (text: string) => Promise<readonly unknown[]>,
  { mayCreate, ...opened }: Pick<OpenStore, 'store' | 'close'> & { readonly mayCreate: boolean },
): Promise<OpenStore> {
  if (!mayCreate) await refuseOther(() => query(FIND_TABLE), opened.close);
  return { ...opened, isUsed: () => known(async () => (await query(FIND_ROW)).length > 0) };
}

/** @returns The answer; `undefined` if the database has no such table, or does not answer. */
async function known(ask: () => Promise<boolean>): Promise<boolean | undefined> {
  return ask().catch(() => undefined);
}

/** @throws {UsageError} If the database has no table of a store, which its first use would create. */
async function refuseOther(
  find: () => Promise<readonly unknown[]>,
  close: () => Promise<void>,
): Promise<void> {
  // If the database does not answer, the first query of the command says so.
  const found = await find().catch(() => undefined);
  if (found?.length !== 0) return;
  await close();
  throw new UsageError(
    'option_invalid',
    'No receiver has used this database as its store, or its tables are in a schema outside of the search_path. This command does not create a store.',
  );
}

/** ioredis 4 has no export of the name `Redis`, and before 4.10, the module itself is the class. */
type IoRedisModule = Partial<Pick<typeof import('ioredis'), 'Redis' | 'default'>> &
  typeof import('ioredis').Redis;

async function openRedis(url: string): Promise<OpenStore> {
  const ioredis = await load<IoRedisModule>('ioredis');
  if (ioredis) {
    const Redis = ioredis.Redis ?? ioredis.default ?? ioredis;
    const client = new Redis(url, {
      maxRetriesPerRequest: 1,
      connectTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      retryStrategy: () => null,
    });
    const named = nameCause(client);
    return {
      store: forward(redisStore(client), {}, (run) => named(run())),
      isUsed: () => known(async () => (await client.exists(LAYOUT_KEY)) > 0),
      unused: `${UNUSED} If the client of the receiver has a keyPrefix, add it to the address: ?keyPrefix=…`,
      close: async () => client.disconnect(),
    };
  }
  const redis = await load<typeof import('redis')>('redis');
  if (!redis) throw noDriver('Redis', 'ioredis');
  return openNodeRedis(redis, url);
}

/**
 * Remembers why the client of a Redis has lost its connection: a command rejects with "Connection is closed" alone.
 *
 * @returns A function that gives the error of an answer that cause.
 */
function nameCause(client: {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
}) {
  let lost: NodeJS.ErrnoException | undefined;
  client.on('error', (error) => {
    lost = error;
  });
  return async <Value>(answer: Promise<Value>): Promise<Value> => {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('MOVED ')) {
        throw new Error(ON_CLUSTER, { cause: error });
      }
      const isClosed = error instanceof Error && /\bclosed\b/.test(error.message);
      // If a host name has several addresses, the error has a code but no message.
      throw isClosed && lost ? new Error(lost.message || lost.code, { cause: lost }) : error;
    }
  };
}

const ON_CLUSTER =
  'This address is a node of a Redis cluster, and commands open only a single server. Use a program instead: store.list of redisStore(new Cluster(nodes)), and receiver.redrive, as docs/operate.md shows.';

const UNUSED =
  'No receiver has used this Redis database as its store. Check the address, and the number of the database at its end.';

/** Opens a store with node-redis, whose earlier versions wait forever for a server that stops answering. */
export async function openNodeRedis(
  redis: typeof import('redis'),
  url: string,
): Promise<OpenStore> {
  const client = redis.createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: 1000,
    socket: { connectTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS, reconnectStrategy: false },
  });
  const named = nameCause(client);
  const close = async () => {
    try {
      // redis 4 has no destroy().
      await (client.destroy ? client.destroy() : client.disconnect());
    } catch {
      // Before redis 6, it throws if the connection is lost already.
    }
  };
  const limited = <Value>(answer: Promise<Value>) =>
    named(withTimeout(answer, 'The store', TIMEOUT_MS));
  try {
    await limited(client.connect());
  } catch (error) {
    await close();
    throw error;
  }
  return {
    store: forward(redisStore(client), {}, (run) => limited(run())),
    isUsed: () => known(async () => (await limited(client.exists(LAYOUT_KEY))) > 0),
    unused: UNUSED,
    close,
  };
}

/** Returns a row if the database has tables, and none of them is a store's. */
const IS_FOREIGN = `SELECT 1 WHERE EXISTS (SELECT 1 FROM sqlite_master)
  AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'webhook_delivery')`;

async function openSqlite(file: string): Promise<OpenStore> {
  const builtin = process.getBuiltinModule('node:sqlite') as
    | typeof import('node:sqlite')
    | undefined;
  const Database =
    builtin?.DatabaseSync ??
    (await load<typeof import('libsql')>('libsql')) ??
    (await load<typeof import('better-sqlite3')>('better-sqlite3'));
  if (!Database) throw noDriver('SQLite', 'libsql', ', or run it on Node 22.13 or later');
  const database = new Database(file);
  // The shop may be writing at the moment.
  database.exec('PRAGMA busy_timeout = 5000');
  const reader: { prepare(statement: string): { all(): unknown[] } } = database;
  if (reader.prepare(IS_FOREIGN).all().length > 0) {
    database.close();
    throw new UsageError(
      'option_invalid',
      `No receiver has used the file ${file} as its store. This command does not create a store.`,
    );
  }
  return {
    store: sqliteStore(database),
    isUsed: () => known(async () => reader.prepare(FIND_ROW).all().length > 0),
    close: async () => void database.close(),
  };
}

/** Imports a package that the project or this package can resolve; `undefined` if neither can. */
async function load<Module>(name: string): Promise<Module | undefined> {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      const path = createRequire(from).resolve(name);
      const loaded: object = await import(pathToFileURL(path).href);
      // The default export of a CommonJS module is the module itself.
      return ('default' in loaded ? loaded.default : loaded) as Module;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return undefined;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /MODULE_NOT_FOUND/.test(`${error.code}`);
}

function noDriver(what: string, name: string, otherwise = ''): UsageError {
  return new UsageError(
    'option_invalid',
    `There is no driver for ${what} here: run this in the folder of your shop, or npm install ${name}${otherwise}.`,
  );
}
