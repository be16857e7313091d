import pg from 'pg';
import PgBoss10 from 'pg-boss';
import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Dispatching } from '../../../../src/queues/run-job.js';
import { enqueue, newDelivery } from '../../../queues/deliveries.js';
import { loadPgBoss12 } from '../../../queues/pg-boss/boss12.js';
import { withRuntimes } from '../../../runtimes/installed.js';
import { startPostgres, withPostgres } from '../../../support/postgres.js';

const DOWN = { connectionString: 'postgres://shop@127.0.0.1:1/shop', query_timeout: 1000 };
const receiver: Dispatching = { dispatch: async () => ({ outcome: 'handled', ran: [] }) };
const { signal } = new AbortController();

let lines: string[];
beforeEach(() => {
  lines = [];
  vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
});

withRuntimes('an instance of pg-boss', () => {
  test.each([
    ['10', async () => new PgBoss10(DOWN)],
    ['12', async () => new (await loadPgBoss12()).PgBoss(DOWN)],
  ])('of version %s that is not started is rejected at its first use', async (_, make) => {
    const boss = (await make()).on('error', () => {});
    const expected = {
      code: 'client_invalid',
      message: expect.stringMatching(/not started, or it has stopped: await boss\.start\(\) first/),
    };
    await expect(enqueue(pgBossQueue(boss), newDelivery())).rejects.toMatchObject(expected);
    await expect(pgBossWorker(boss, receiver)).rejects.toMatchObject(expected);
    expect(lines).toEqual([]);
  });
});

withPostgres('a started instance of pg-boss', () => {
  test('without a listener for errors is logged once, and takes the rows of TypeORM in a transaction', async () => {
    const server = await startPostgres();
    // Handed on to pg, though the types of pg-boss do not name it.
    const options = { connectionString: server.url, query_timeout: 5000, schedule: false };
    const boss = new PgBoss10(options);
    const tx = new pg.Client(server.url);
    try {
      await boss.start();
      await tx.connect();
      const queue = pgBossQueue(boss);
      await enqueue(queue, newDelivery());
      await enqueue(pgBossQueue(boss, { name: 'other' }), newDelivery());
      expect(lines).toEqual([
        expect.stringMatching(
          /pg-boss has no listener for its error event.*boss\.on\('error'.*#no-error-listener$/,
        ),
      ]);
      const query = async (text: string, values?: unknown[]) => (await tx.query(text, values)).rows;
      const delivery = newDelivery();
      const sent = async (manager: object) =>
        queue.enqueue(delivery, { key: delivery.key, tx: manager as pg.Client, signal });
      await tx.query('BEGIN');
      const { id } = await sent({ query });
      await tx.query('ROLLBACK');
      expect(await boss.getJobById('webhooks', id)).toBeNull();
      await tx.query('BEGIN');
      await sent({ query });
      await tx.query('COMMIT');
      expect(await boss.getJobById('webhooks', id)).toMatchObject({ state: 'created' });
    } finally {
      await tx.end();
      await boss.stop({ graceful: false });
      await server.remove();
    }
  });
});
