import pg from 'pg';
import { createReceiver } from 'storefront-webhooks';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STARTING_MS } from '../../../stores/postgres/claiming.js';
import { deliver, paidOrder, SECRET } from '../../../support/deliver.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('a shop with its stock in PostgreSQL', () => {
  let server: PostgresServer;
  const pools: pg.Pool[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  }, STARTING_MS);
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await server.remove();
  });

  /** A process of the shop: its own receiver, store and ledger. */
  function open() {
    const pool = new pg.Pool({ connectionString: server.url });
    pools.push(pool);
    const ledger = postgresLedger(pool);
    const failing = { times: 0, mails: 0 };
    const receiver = createReceiver({
      secret: SECRET,
      store: postgresStore(pool),
      hooks: { onError() {} },
    })
      .on(
        'order:paid',
        async (event) => {
          const tx = await pool.connect();
          try {
            await tx.query('BEGIN');
            if (await ledger.once(tx, event)) {
              await tx.query('UPDATE stock SET amount = amount - 1');
              await tx.query(`INSERT INTO sale VALUES (decode($1, 'hex'), $2)`, [
                event.key,
                event.payload.id,
              ]);
              if (failing.times-- > 0) throw new Error('no paper for the receipt');
            }
            await tx.query('COMMIT');
          } catch (error) {
            await tx.query('ROLLBACK');
            throw error;
          } finally {
            tx.release();
          }
        },
        { name: 'sell' },
      )
      .on('order:paid', () => void failing.mails++, { name: 'mail' });
    return { pool, receiver, failing };
  }

  test('sells each order once, for any failures and retries', async () => {
    const shops = [open(), open()] as const;
    const { pool, failing } = shops[0];
    await pool.query(`
      CREATE TABLE stock (amount integer); INSERT INTO stock VALUES (10);
      CREATE TABLE sale (key bytea, order_id text)`);
    const amount = async () => (await pool.query('SELECT amount FROM stock')).rows[0].amount;
    const sales = async () => (await pool.query('SELECT order_id FROM sale')).rows;

    failing.times = 1;
    expect(await deliver(shops[0].receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    expect([await amount(), await sales()]).toEqual([10, []]);
    expect(await deliver(shops[1].receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect([await amount(), await sales()]).toEqual([9, [{ order_id: 'ord_1' }]]);
    // The completed handler did not run again in another process.
    expect([failing.mails, shops[1].failing.mails]).toEqual([1, 0]);

    const copies = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        deliver((index % 2 === 0 ? shops[0] : shops[1]).receiver, paidOrder({ id: 'ord_2' }), {
          id: 'whl_2',
        }),
      ),
    );
    expect(new Set(copies.map(({ status }) => status))).toEqual(new Set([200]));
    expect([await amount(), (await sales()).length]).toEqual([8, 2]);

    // The ledger prevents a second sale even if the store has lost its data.
    await pool.query('TRUNCATE webhook_delivery');
    expect(await deliver(shops[0].receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect([await amount(), (await sales()).length]).toEqual([8, 2]);
  });
});
