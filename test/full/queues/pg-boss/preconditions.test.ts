import pg from 'pg';
import PgBoss10 from 'pg-boss';
import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import type { Dispatching } from '../../../../src/queues/run-job.js';
import { enqueue, newDelivery } from '../../../queues/deliveries.js';
import { loadPgBoss12 } from '../../../queues/pg-boss/boss12.js';
import { withRuntimes } from '../../../runtimes/installed.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

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
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  async function start(): Promise<PgBoss10> {
    // Handed on to pg, though the types of pg-boss do not name it.
    const options = { connectionString: server.url, query_timeout: 5000, schedule: false };
    const boss = new PgBoss10(options);
    onTestFinished(() => boss.stop({ graceful: false }));
    return boss.start();
  }

  test('without a listener for errors is logged once, and takes the rows of TypeORM in a transaction', async () => {
    const boss = await start();
    const tx = new pg.Client(server.url);
    try {
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
    }
  });

  test('of version 10 keeps a job for 30 days, which is longer than all of its attempts take', async () => {
    const boss = (await start()).on('error', () => {});
    const { id } = await enqueue(pgBossQueue(boss, { name: 'patient' }), newDelivery());
    const job = await boss.getJobById('patient', id);
    const keptMs = Number(job?.keepUntil) - Number(job?.createdOn);
    expect(keptMs / (24 * 60 * 60 * 1000)).toBeCloseTo(30);
  });
});
