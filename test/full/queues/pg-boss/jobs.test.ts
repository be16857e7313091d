import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Dispatching } from '../../../../src/queues/run-job.js';
import { enqueue, LONG_MS, newDelivery, redrive, soon } from '../../../queues/deliveries.js';
import {
  makePgBoss,
  type PgBossEngine,
  stopBosses,
  withPgBoss,
} from '../../../queues/pg-boss/engine.js';
import { type PostgresServer, startPostgres } from '../../../support/postgres.js';
import { casesOf } from '../../../support/tier.js';

const VERSIONS = casesOf([12, 10] as const, (version) => version === 12);

const handled = { outcome: 'handled', ran: [] } as const;
const failed = { outcome: 'failed', ran: [] } as const;
const unavailable = { outcome: 'unavailable', ran: [] } as const;
const { signal } = new AbortController();

withPgBoss('over PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await stopBosses();
    await server.remove();
  });

  describe.each(VERSIONS)('a queue of pg-boss %i', (version) => {
    const engines: PgBossEngine[] = [];
    afterEach(async () => {
      for (const engine of engines.splice(0)) await engine.close();
    });
    async function open(attempts = 1): Promise<PgBossEngine> {
      const engine = await makePgBoss(server, version, { attempts });
      engines.push(engine);
      return engine;
    }

    test('keeps one job for a delivery, under the same id', async () => {
      const { queue, states } = await open();
      const delivery = newDelivery();
      const first = await enqueue(queue, delivery);
      expect(first.id.replaceAll('-', '')).toBe(delivery.key.slice(0, 32));
      expect(await enqueue(queue, delivery)).toEqual(first);
      expect(await states()).toEqual(['created']);
    });

    test.each(['a client of pg', 'what pg-boss takes'])(
      "enqueues a delivery in the caller's transaction, by %s",
      async (which) => {
        const { queue, pool, states } = await open();
        const delivery = newDelivery();
        for (const end of ['ROLLBACK', 'COMMIT']) {
          const client = await pool.connect();
          const executeSql = (text: string, values?: unknown[]) => client.query(text, values);
          const tx = which === 'a client of pg' ? client : { executeSql };
          await client.query('BEGIN');
          await queue.enqueue(delivery, { key: delivery.key, signal, tx });
          expect(await states()).toEqual([]);
          await client.query(end);
          client.release();
          expect(await states()).toEqual(end === 'COMMIT' ? ['created'] : []);
        }
      },
    );

    test('rejects a pool, which is not a transaction', async () => {
      const { queue, pool, states } = await open();
      const delivery = newDelivery();
      const enqueued = queue.enqueue(delivery, { key: delivery.key, signal, tx: pool });
      await expect(enqueued).rejects.toMatchObject({ code: 'transaction_missing' });
      expect(await states()).toEqual([]);
    });

    test('enqueues nothing after its signal has aborted', async () => {
      const { queue, states } = await open();
      const delivery = newDelivery();
      const late = AbortSignal.abort(new Error('too late'));
      const enqueued = queue.enqueue(delivery, { key: delivery.key, signal: late });
      await expect(enqueued).rejects.toThrow('too late');
      expect(await states()).toEqual([]);
    });

    test('is created by its first user, and retries for a day', async () => {
      const { boss, name } = await open();
      const fresh = `${name}-fresh`;
      const jobs = await Promise.all(
        Array.from({ length: 5 }, () => enqueue(pgBossQueue(boss, { name: fresh }), newDelivery())),
      );
      expect(new Set(jobs.map(({ id }) => id)).size).toBe(5);
      const settings = await boss.getQueue(fresh);
      expect(settings).toMatchObject({
        retryLimit: 16,
        retryDelay: 1,
        retryBackoff: true,
        expireInSeconds: 300,
        deadLetter: `${fresh}-dead`,
        ...(version === 12 && { heartbeatSeconds: 60 }),
      });
      expect(await boss.getQueue(`${fresh}-dead`)).toMatchObject({ retryBackoff: true });
    });

    test('does not report duplicates after it was deleted, and is created again', async () => {
      const { boss, queue, name } = await open();
      const delivery = newDelivery();
      const late = AbortSignal.abort();
      await expect(queue.enqueue(delivery, { key: delivery.key, signal: late })).rejects.toThrow();
      await boss.deleteQueue(name);
      // pg-boss 12 reports it itself.
      await expect(enqueue(queue, delivery)).rejects.toThrow(/no queue|does not exist/);
      expect((await enqueue(queue, delivery)).id).toBeTruthy();
    });

    test('stores text fields as plain JSON', async () => {
      const { boss, queue, name } = await open();
      const { body, ...delivery } = newDelivery();
      const { id } = await enqueue(queue, { ...delivery, body });
      const job = await boss.getJobById(name, id, { includeArchive: false });
      const base64 = Buffer.from(body).toString('base64');
      expect(job?.data).toEqual({ v: 1, ...delivery, body: base64 });
    });

    test('claims no job for a receiver that closes, and its jobs lose no attempt', async () => {
      const { queue, pool, name, states, work } = await open(3);
      const closing = new AbortController();
      let finish = () => {};
      const running = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const dispatch = vi.fn<Dispatching['dispatch']>(async () => {
        if (closing.signal.aborted) return unavailable;
        await running;
        return handled;
      });
      await work({ dispatch, closing: closing.signal });
      for (let n = 0; n < 20; n++) await enqueue(queue, newDelivery());
      await vi.waitUntil(() => dispatch.mock.calls.length === 5, soon);
      closing.abort();
      finish();
      // Several times as long as a worker's polling interval.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect(dispatch).toHaveBeenCalledTimes(5);
      const counted = `SELECT sum(retry_count)::int AS attempts FROM boss${version}.job WHERE name = $1`;
      expect((await pool.query(counted, [name])).rows).toEqual([{ attempts: 0 }]);
      expect((await states()).filter((state) => state === 'created')).toHaveLength(15);
      const next = vi.fn<Dispatching['dispatch']>().mockResolvedValue(handled);
      await work({ dispatch: next });
      await vi.waitUntil(() => next.mock.calls.length === 15, soon);
    });

    test('marks the last attempt for its worker, and gives dead letters one more', async () => {
      const { queue, name, states, work } = await open(2);
      const last: boolean[] = [];
      await work({
        dispatch: async (_, { lastAttempt }) => {
          last.push(lastAttempt);
          return last.length < 3 ? failed : handled;
        },
      });
      await enqueue(queue, newDelivery());
      await vi.waitUntil(async () => (await states(`${name}-dead`))[0] === 'completed', soon);
      expect(last).toEqual([false, true, true]);
      expect(await states()).toEqual(['failed']);
    });

    test('keeps a dead letter that could not be parked, and waits', async () => {
      const { boss, queue, name, pool, states, work } = await open(1);
      const dispatch = vi.fn<Dispatching['dispatch']>().mockResolvedValue(unavailable);
      await work({ dispatch });
      const delivery = newDelivery();
      await enqueue(queue, delivery);
      const { rows } = await vi.waitUntil(async () => {
        const found = await pool.query(
          `SELECT id, extract(epoch FROM start_after - now())::float8 AS seconds, data, state
            FROM boss${version}.job WHERE name = $1 AND start_after > now() + interval '10 s'`,
          [`${name}-dead`],
        );
        return found.rows.length > 0 ? found : undefined;
      }, soon);
      expect(rows).toMatchObject([{ data: { key: delivery.key } }]);
      expect(rows[0].seconds).toBeGreaterThan(30);
      // Let the pause of the job end.
      dispatch.mockResolvedValue(handled);
      await pool.query(`UPDATE boss${version}.job SET start_after = now() WHERE id = $1`, [
        rows[0].id,
      ]);
      await vi.waitUntil(async () => {
        const job = await boss.getJobById(`${name}-dead`, rows[0].id, { includeArchive: false });
        return job?.state === 'completed';
      }, soon);
      expect(dispatch).toHaveBeenLastCalledWith(expect.objectContaining({ key: delivery.key }), {
        lastAttempt: true,
      });
      expect(await states()).toEqual(['failed']);
    });

    test.each(['created', 'completed', 'failed', 'cancelled', 'absent'] as const)(
      'redrives a delivery whose job is %s',
      async (state) => {
        const { boss, queue, name, pool, work, states } = await open(2);
        const delivery = newDelivery();
        if (state !== 'absent') {
          const { id } = await enqueue(queue, delivery);
          await pool.query(
            `UPDATE boss${version}.job SET state = $1::text::boss${version}.job_state, retry_count = retry_limit,
              start_after = now() + CASE WHEN $1::text = 'created' THEN 0 ELSE 3600 END * interval '1 s'
              WHERE id = $2`,
            [state, id],
          );
          expect(await boss.getJobById(name, id, { includeArchive: false })).toMatchObject({
            state,
          });
        }
        // Two redrives at the same time.
        await Promise.all([redrive(queue, delivery), redrive(queue, delivery)]);
        expect(await states()).toEqual(['created']);
        const dispatch = vi.fn<Dispatching['dispatch']>().mockResolvedValue(handled);
        await work({ dispatch });
        await vi.waitUntil(async () => (await states())[0] === 'completed', soon);
        expect(dispatch).toHaveBeenCalledOnce();
        if (state !== 'created')
          expect(dispatch.mock.calls[0]?.[1]).toEqual({ lastAttempt: false });
      },
    );

    test('runs a job now that waits for its retry, and leaves it the attempts that it has', async () => {
      const { queue, name, pool, work, states } = await open(4);
      const last: boolean[] = [];
      const dispatch = vi.fn<Dispatching['dispatch']>(async (_, { lastAttempt }) => {
        last.push(lastAttempt);
        return failed;
      });
      const delivery = newDelivery();
      const { id } = await enqueue(queue, delivery);
      // As after two attempts.
      await pool.query(
        `UPDATE boss${version}.job SET state = 'retry', retry_count = 1, started_on = now(),
          start_after = now() + interval '10 h' WHERE id = $1`,
        [id],
      );
      expect((await redrive(queue, delivery)).id).toBeTruthy();
      expect(await states()).toEqual(['created']);
      await work({ dispatch });
      await vi.waitUntil(async () => (await states())[0] === 'failed', soon);
      await vi.waitUntil(async () => (await states(`${name}-dead`)).length === 1, soon);
      expect(last.slice(0, 2)).toEqual([false, true]);
    });

    test('keeps a job that waits for its retry if its redrive fails', async () => {
      const { boss, queue, pool, states } = await open(4);
      const delivery = newDelivery();
      const { id } = await enqueue(queue, delivery);
      await pool.query(`UPDATE boss${version}.job SET state = 'retry' WHERE id = $1`, [id]);
      const send = vi.spyOn(boss, 'send').mockRejectedValue(new Error('the connection is lost'));
      await expect(redrive(queue, delivery)).rejects.toThrow('lost');
      send.mockRestore();
      expect(await states()).toEqual(['retry']);
    });

    test.each([
      ['redrive', 'retry'],
      ['enqueue', 'completed'],
    ] as const)(
      "keeps a job if the %s of its delivery is rolled back with the caller's transaction",
      async (verb, state) => {
        const { queue, pool, states } = await open(4);
        const delivery = newDelivery();
        const { id } = await enqueue(queue, delivery);
        await pool.query(`UPDATE boss${version}.job SET state = '${state}' WHERE id = $1`, [id]);
        const tx = await pool.connect();
        await tx.query('BEGIN');
        await queue[verb]?.(delivery, { key: delivery.key, signal, tx });
        await tx.query('ROLLBACK');
        tx.release();
        expect(await states()).toEqual([state]);
      },
    );

    test('runs a delivery again that comes again after it was ignored', async () => {
      const { queue, work, states } = await open();
      const ignored = { outcome: 'ignored', ran: [] } as const;
      const dispatch = vi.fn<Dispatching['dispatch']>().mockResolvedValue(ignored);
      await work({ dispatch });
      const delivery = newDelivery();
      const { id } = await enqueue(queue, delivery);
      await vi.waitUntil(async () => (await states())[0] === 'completed', soon);
      // Two requests at the same time.
      const both = [enqueue(queue, delivery), enqueue(queue, delivery)];
      expect(await Promise.all(both)).toEqual([{ id }, { id }]);
      await vi.waitUntil(() => dispatch.mock.calls.length >= 2, soon);
    });

    test('rejects a queue whose policy drops deliveries', async () => {
      const { boss, name } = await open();
      const strict = `${name}-strict`;
      await boss.createQueue(strict, { name: strict, policy: 'short' });
      const queue = pgBossQueue(boss, { name: strict });
      await expect(enqueue(queue, newDelivery())).rejects.toMatchObject({
        code: 'queue_invalid',
        message: expect.stringContaining('the policy short drops deliveries'),
      });
    });

    test('processes jobs one after another without a pause while there are any', async () => {
      const { boss, queue, name, states } = await open();
      for (let job = 0; job < 5; job++) await enqueue(queue, newDelivery());
      const dispatch = vi.fn<Dispatching['dispatch']>().mockResolvedValue(handled);
      await pgBossWorker(
        boss,
        { dispatch },
        { name, concurrency: 1, pollingIntervalSeconds: 3600 },
      );
      const allDone = Array.from({ length: 5 }, () => 'completed').join();
      await vi.waitUntil(async () => (await states()).join() === allDone, soon);
    });

    test.each([0, 1.5, Number.NaN])('rejects a concurrency of %s', async (concurrency) => {
      const { boss, name } = await open();
      const worker = pgBossWorker(boss, { dispatch: async () => handled }, { name, concurrency });
      await expect(worker).rejects.toMatchObject({ code: 'option_invalid' });
    });

    test('processes as many deliveries at once as its concurrency', async () => {
      const { boss, queue, name, states } = await open();
      for (let job = 0; job < 30; job++) await enqueue(queue, newDelivery());
      let begun = 0;
      let running = 0;
      let most = 0;
      const dispatch = async () => {
        most = Math.max(most, ++running);
        // The first three wait for each other.
        if (++begun <= 3) await vi.waitUntil(() => begun >= 3, soon);
        await new Promise((resolve) => setTimeout(resolve, 50));
        running--;
        return handled;
      };
      await pgBossWorker(boss, { dispatch }, { name, concurrency: 3, pollingIntervalSeconds: 0.5 });
      await vi.waitUntil(async () => (await states()).every((s) => s === 'completed'), soon);
      expect(most).toBe(3);
    });

    test('does not affect a running job', { timeout: LONG_MS }, async () => {
      const { queue, work, states } = await open();
      let finish = () => {};
      const dispatch = vi.fn<Dispatching['dispatch']>(async () => {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return handled;
      });
      await work({ dispatch });
      const delivery = newDelivery();
      await enqueue(queue, delivery);
      await vi.waitUntil(() => dispatch.mock.calls.length === 1, soon);
      await redrive(queue, delivery);
      finish();
      await vi.waitUntil(async () => (await states())[0] === 'completed', soon);
      expect(dispatch).toHaveBeenCalledOnce();
    });
  });
});
