import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type PgBoss from 'pg-boss';
import type { HandOff } from 'storefront-webhooks';
import { type BossTransaction, pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { postgresStore } from 'storefront-webhooks/postgres';
import { vi } from 'vitest';
import { withRuntimes } from '../../runtimes/installed.js';
import { type PostgresServer, withPostgres } from '../../support/postgres.js';
import { type Engine, type EngineOptions, soon } from '../deliveries.js';
import { type BossVersion, newBoss } from './bosses.js';

export interface PgBossEngine extends Engine {
  readonly queue: HandOff<BossTransaction>;
  readonly boss: PgBoss;
  readonly pool: pg.Pool;
  /** The states of all jobs of the queue, or of its dead letters. */
  states(queue?: string): Promise<string[]>;
}

/** Tests over a real PostgreSQL. They also need pg-boss 12, which `npm ci` does not install. */
export const withPgBoss = (name: string, tests: () => void): void =>
  withRuntimes('pg-boss', () => withPostgres(name, tests));

const bosses = new Map<string, Promise<PgBoss>>();

/** One for all tests of a file, because each holds connections, and takes a while to start. */
function startedBoss(
  { url }: PostgresServer,
  version: BossVersion,
  Boss10?: typeof PgBoss,
): Promise<PgBoss> {
  const id = `${version} ${url}`;
  const started = bosses.get(id) ?? newBoss(version, url, Boss10).then((boss) => boss.start());
  bosses.set(id, started);
  return started;
}

/** Stop before the server is removed. */
export async function stopBosses(): Promise<void> {
  for (const boss of bosses.values()) await (await boss).stop({ graceful: false });
  bosses.clear();
}

/**
 * A queue with its own name, and a store on the same PostgreSQL.
 *
 * @param Boss10 - The class of another pg-boss 10.
 */
export async function makePgBoss(
  server: PostgresServer,
  version: BossVersion,
  { attempts, expireInSeconds = 60 }: EngineOptions,
  Boss10?: typeof PgBoss,
): Promise<PgBossEngine> {
  const name = `webhooks-${randomUUID()}`;
  const boss = await startedBoss(server, version, Boss10);
  const pool = new pg.Pool({ connectionString: server.url });
  pool.on('error', () => {});
  // If two queues of pg-boss 10 are created at once, PostgreSQL may end one of them as a deadlock.
  await vi.waitFor(
    () =>
      boss.createQueue(name, { name, retryLimit: attempts - 1, retryDelay: 0, expireInSeconds }),
    soon,
  );
  const states = async (queue = name): Promise<string[]> => {
    const { rows } = await pool.query(
      `SELECT state::text FROM boss${version}.job WHERE name = $1 ORDER BY created_on`,
      [queue],
    );
    return rows.map(({ state }) => state);
  };
  return {
    boss,
    name,
    pool,
    states,
    queue: pgBossQueue(boss, { name }),
    store: postgresStore(pool),
    work: (receiver) => pgBossWorker(boss, receiver, { name, pollingIntervalSeconds: 0.5 }),
    count: async () => (await states()).length,
    countDone: async () => (await states()).filter((state) => state === 'completed').length,
    addJob: (data) => boss.send(name, data),
    async crash() {
      await server.stop('immediate');
      await server.start();
    },
    async close() {
      // Do not wait: jobs that a test has left running continue until the end.
      for (const queue of [name, `${name}-dead`]) void boss.offWork(queue);
      await pool.end();
    },
  };
}
