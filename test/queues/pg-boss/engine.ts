import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { HandOff } from 'storefront-webhooks';
import { type BossTransaction, pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { postgresStore } from 'storefront-webhooks/postgres';
import { vi } from 'vitest';
import type { PostgresServer } from '../../support/postgres.js';
import { type Engine, type EngineOptions, soon } from '../deliveries.js';
import { type BossVersion, newBoss } from './bosses.js';

export type AnyBoss = ReturnType<typeof newBoss>;

export interface PgBossEngine extends Engine {
  readonly queue: HandOff<BossTransaction>;
  readonly boss: AnyBoss;
  readonly pool: pg.Pool;
  /** The states of all jobs of the queue, or of its dead letters. */
  states(queue?: string): Promise<string[]>;
}

const bosses = new Map<string, Promise<AnyBoss>>();

/** One for all tests of a file, because each holds connections and starts slowly. */
function startedBoss({ url }: PostgresServer, version: BossVersion): Promise<AnyBoss> {
  const id = `${version} ${url}`;
  const started = bosses.get(id) ?? newBoss(version, url).start();
  bosses.set(id, started);
  return started;
}

/** Stop before the server is removed. */
export async function stopBosses(): Promise<void> {
  for (const boss of bosses.values()) await (await boss).stop({ graceful: false });
  bosses.clear();
}

/** A queue with its own name, and a store on the same PostgreSQL. */
export async function makePgBoss(
  server: PostgresServer,
  version: BossVersion,
  { attempts, expireInSeconds = 60 }: EngineOptions,
): Promise<PgBossEngine> {
  const name = `webhooks-${randomUUID()}`;
  const boss = await startedBoss(server, version);
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
