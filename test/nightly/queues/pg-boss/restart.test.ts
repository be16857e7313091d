import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { enqueue, newDelivery } from '../../../queues/deliveries.js';
import { makePgBoss, stopBosses, withPgBoss } from '../../../queues/pg-boss/engine.js';
import { runProgram } from '../../../queues/programs.js';
import { type PostgresServer, startPostgres } from '../../../support/postgres.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

withPgBoss('when PostgreSQL restarts under a worker', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => {});
    await pool.query('CREATE TABLE written (queue text, what text)');
  });
  afterAll(async () => {
    await stopBosses();
    await pool.end();
    await server.remove();
  });

  test.each([10, 12] as const)(
    'the process survives and runs every job, with pg-boss %d',
    {
      timeout: 120_000,
    },
    async (version) => {
      const engine = await makePgBoss(server, version, { attempts: 30, expireInSeconds: 10 });
      for (let job = 0; job < 80; job++) await enqueue(engine.queue, newDelivery());
      const worker = await runProgram({
        ENGINE: `pg-boss ${version}`,
        NAME: engine.name,
        ROLE: 'worker',
        DATABASE_URL: server.url,
        SLOW_MS: '100',
      });
      let died: unknown;
      void worker.died.then((how) => {
        died = how;
      });
      const done = () => engine.countDone().catch(() => 0);
      // Restart the server while jobs start, run and finish.
      for (const mode of ['fast', 'immediate', 'fast', 'immediate'] as const) {
        const before = await vi.waitUntil(done, 30_000);
        await vi.waitUntil(async () => died !== undefined || (await done()) > before, 30_000);
        await server.stop(mode);
        await pause(300);
        await server.start();
      }
      await vi.waitUntil(async () => died !== undefined || (await done()) === 80, 60_000);
      expect(died).toBeUndefined();
      await worker.kill();
      const { rows } = await pool.query(
        `SELECT count(*)::int FROM written WHERE queue = $1 AND what = 'ledger effect'`,
        [engine.name],
      );
      expect(rows).toEqual([{ count: 80 }]);
      await engine.close();
    },
  );
});
