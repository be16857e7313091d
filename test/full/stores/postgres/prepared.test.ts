import pg from 'pg';
import { createReceiver } from 'storefront-webhooks';
import { type PostgresStoreOptions, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { acquire, KEEP_MS, newDelivery, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { TABLE } from '../../../stores/transactions.js';
import { deliver, paidOrder, SECRET } from '../../../support/deliver.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('the statements of each delivery', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
  }, STARTING_MS);
  beforeEach(() => {
    pool = new pg.Pool({ connectionString: server.url, max: 1, query_timeout: 5_000 });
    return () => pool.end();
  });
  afterAll(() => server.remove());

  const handle = async (options?: PostgresStoreOptions) => {
    const store = postgresStore(pool, options);
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery);
    expect(await store.renew(delivery.key, fence, 60_000)).toBe(true);
    expect(await store.completeStep(delivery.key, fence, 'mail', null)).toBe(true);
    expect(await store.fail(delivery.key, fence, { permanent: false, error: 'no' })).toBe('retry');
    const next = await acquire(store, delivery);
    expect(next).toMatchObject({ attempt: 2, steps: { mail: null } });
    expect(await store.complete(delivery.key, next.fence, KEEP_MS)).toBe(true);
  };
  const prepared = async () => {
    const { rows } = await pool.query<{ name: string }>(
      'SELECT name FROM pg_prepared_statements ORDER BY name',
    );
    return rows.map(({ name }) => name);
  };

  test('are kept prepared on their connection, under names with the version', async () => {
    for (const _ of ['once', 'twice']) await handle();
    const verbs = ['claim', 'claim all', 'complete', 'complete step', 'fail', 'renew'];
    const name = (verb: string) =>
      expect.stringMatching(new RegExp(`^storefront-webhooks \\d+\\.\\d+\\.\\d+ ${verb}$`));
    expect(await prepared()).toEqual(verbs.map(name));
  });

  test('have no name with prepare: false, as behind a pooler', async () => {
    await handle({ prepare: false });
    expect(await prepared()).toEqual([]);
  });

  test('in a transaction are kept prepared as well, and run unprepared after a pooler has lost them', async () => {
    await pool.query(TABLE);
    const shop = createReceiver({ secret: SECRET, store: postgresStore(pool) }).on(
      'order:paid',
      async ({ payload, tx }) => {
        await tx.query('INSERT INTO sold VALUES ($1)', [payload.id]);
      },
      { name: 'sell', oncePer: (order) => order.id, transaction: true },
    );
    const sell = async (id: string) =>
      expect(await deliver(shop, paidOrder({ id }), { id })).toMatchObject({ outcome: 'handled' });
    await sell('ord_1');
    await sell('ord_2');
    const names = (await prepared()).filter((name) =>
      / (lock|limit|enter|record|complete e)/.test(name),
    );
    expect(names).toHaveLength(7);
    for (const name of names) await pool.query(`DEALLOCATE "${name}"`);
    await sell('ord_3');
    await sell('ord_4');
    for (const name of await prepared()) expect(names).not.toContain(name);
    expect((await pool.query('SELECT * FROM sold')).rows).toHaveLength(4);
    await pool.query('DROP TABLE sold');
  });

  describe('behind a pooler that uses another connection for each statement', () => {
    test.each([
      ['without the statement', 'DEALLOCATE ALL'],
      ['with the statement already', (name: string) => `PREPARE "${name}" AS SELECT 1`],
    ])('%s, are run without their names', async (_, meddle) => {
      await handle();
      const [name = ''] = await prepared();
      // The driver's assumption about its connection is wrong now.
      if (typeof meddle === 'string') await pool.query(meddle);
      else {
        await pool.end();
        pool = new pg.Pool({ connectionString: server.url, max: 1, query_timeout: 5_000 });
        await pool.query(meddle(name));
      }
      await handle();
    });
  });
});
