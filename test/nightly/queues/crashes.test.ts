import pg from 'pg';
import { sign } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeBullmq } from '../../queues/bullmq/engine.js';
import { type Engine, enqueue, newDelivery, redrive, SECRET } from '../../queues/deliveries.js';
import { makePgBoss, stopBosses, withPgBoss } from '../../queues/pg-boss/engine.js';
import { runProgram } from '../../queues/programs.js';
import { paidOrder } from '../../support/deliver.js';
import { type PostgresServer, startPostgres } from '../../support/postgres.js';
import { type RedisServer, startRedis, withRedis } from '../../support/redis.js';

// A lease expires after ten seconds, and queues check their jobs now and then.
const CRASH_MS = 60_000;
const eventually = { timeout: 50_000, interval: 50 };

// The crash table of the design, row by row.
withPgBoss('the death', () => {
  withRedis('with real queues', () => {
    let postgres: PostgresServer;
    let redis: RedisServer;
    let pool: pg.Pool;
    beforeAll(async () => {
      [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
      pool = new pg.Pool({ connectionString: postgres.url });
      await pool.query('CREATE TABLE written (queue text, what text)');
    }, CRASH_MS);
    afterAll(async () => {
      await pool.end();
      await stopBosses();
      await Promise.all([postgres.remove(), redis.remove()]);
    });

    const attempts = 20;
    const engines: Record<string, () => Promise<Engine>> = {
      BullMQ: async () => makeBullmq(redis, { attempts }),
      'pg-boss 12': () => makePgBoss(postgres, 12, { attempts, expireInSeconds: 5 }),
      'pg-boss 10': () => makePgBoss(postgres, 10, { attempts, expireInSeconds: 5 }),
    };

    describe.each(Object.entries(engines))('under %s', (name, make) => {
      /** A queue, and its processes. */
      async function open() {
        const engine = await make();
        const common = {
          ENGINE: name,
          NAME: engine.name,
          REDIS_PORT: `${redis.port}`,
          DATABASE_URL: postgres.url,
        };
        const run = (ROLE: 'web' | 'worker', DEATH = '') => runProgram({ ...common, ROLE, DEATH });
        const written = async (): Promise<Record<string, number>> => {
          const { rows } = await pool.query(
            'SELECT what, count(*)::int FROM written WHERE queue = $1 GROUP BY what',
            [engine.name],
          );
          return Object.fromEntries(rows.map(({ what, count }) => [what, count]));
        };
        const isWritten = (what: string) =>
          vi.waitUntil(async () => (await written())[what], eventually);
        return { engine, run, written, isWritten };
      }

      test.concurrent.each([
        ['before a delivery is in the queue', 'before enqueue', 0],
        ['before it has answered', 'after enqueue', 1],
      ])(
        'of a web process %s makes the sender retry, and the delivery is handled once',
        { timeout: CRASH_MS },
        async (_, death, jobs) => {
          const { engine, run, written, isWritten } = await open();
          const web = await run('web', death);
          await expect(post(await web.said, engine.name)).rejects.toThrow();
          expect(await web.died).toBe('SIGKILL');
          expect(await engine.count()).toBe(jobs);

          const next = await run('web');
          expect((await post(await next.said, engine.name)).status).toBe(200);
          await next.kill();
          expect(await engine.count()).toBe(1);
          const worker = await run('worker');
          await isWritten('handled');
          expect(await written()).toEqual({
            begun: 1,
            'plain effect': 1,
            'ledger effect': 1,
            handled: 1,
          });
          await worker.kill();
          await engine.close();
        },
      );

      test.concurrent('of a worker in a handler leaves the delivery to the next worker', {
        timeout: CRASH_MS,
      }, async () => {
        const { engine, run, written, isWritten } = await open();
        await enqueue(engine.queue, newDelivery());
        const worker = await run('worker', 'in handler');
        await isWritten('begun');
        await worker.kill();
        const next = await run('worker');
        await isWritten('handled');
        expect(await written()).toMatchObject({ begun: 2, 'plain effect': 1, 'ledger effect': 1 });
        await next.kill();
        await engine.close();
      });

      test.concurrent('of a worker after an effect repeats the effect, unless it is in the ledger', {
        timeout: CRASH_MS,
      }, async () => {
        const { engine, run, written, isWritten } = await open();
        await enqueue(engine.queue, newDelivery());
        expect(await (await run('worker', 'after effect')).died).toBe('SIGKILL');
        const next = await run('worker');
        await isWritten('handled');
        expect(await written()).toMatchObject({ 'plain effect': 2, 'ledger effect': 1 });
        await next.kill();
        await engine.close();
      });

      test.concurrent('of a worker before its queue knows that a delivery is done makes the next run a duplicate', {
        timeout: CRASH_MS,
      }, async () => {
        const { engine, run, written, isWritten } = await open();
        await enqueue(engine.queue, newDelivery());
        expect(await (await run('worker', 'after complete')).died).toBe('SIGKILL');
        expect(await engine.countDone()).toBe(0);
        const next = await run('worker');
        await isWritten('duplicate');
        await vi.waitUntil(async () => (await engine.countDone()) === 1, eventually);
        expect(await written()).toEqual({
          begun: 1,
          'plain effect': 1,
          'ledger effect': 1,
          duplicate: 1,
        });
        await next.kill();
        await engine.close();
      });
    });

    test("a delivery that exceeded BullMQ's limit of crashes can be redriven", {
      timeout: CRASH_MS,
    }, async () => {
      const engine = makeBullmq(redis, { attempts });
      const { bull, queue } = engine;
      const run = (DEATH = '') =>
        runProgram({
          ENGINE: 'BullMQ',
          NAME: engine.name,
          REDIS_PORT: `${redis.port}`,
          DATABASE_URL: postgres.url,
          ROLE: 'worker',
          DEATH,
        });
      const delivery = newDelivery();
      const { id } = await enqueue(queue, delivery);
      for (const stalledCounter of [0, 1]) {
        const worker = await run('in handler');
        // A worker without a processor for a second counts as dead as well.
        await vi.waitUntil(async () => {
          const [job] = await bull.getActive();
          const hasBegun = job !== undefined && job.stalledCounter >= stalledCounter;
          return hasBegun || (await bull.getFailedCount()) === 1;
        }, eventually);
        await worker.kill();
      }
      const survivor = await run();
      await vi.waitUntil(async () => (await bull.getFailedCount()) === 1, eventually);
      expect(await bull.getJob(id)).toMatchObject({
        failedReason: 'job stalled more than allowable limit',
      });
      await redrive(queue, delivery);
      await vi.waitUntil(async () => (await engine.countDone()) === 1, eventually);
      await survivor.kill();
      await engine.close();
    });
  });
});

/** Sends the same delivery each time, as its provider does. */
function post(origin: string, order: string): Promise<Response> {
  const body = new TextEncoder().encode(JSON.stringify(paidOrder({ id: order })));
  return fetch(origin, {
    method: 'POST',
    headers: {
      'x-service-event': 'order:paid',
      'x-service-webhook': 'whl_1',
      'x-service-signature': sign(body, SECRET),
    },
    body,
  });
}
