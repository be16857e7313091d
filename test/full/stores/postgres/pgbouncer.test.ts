import pg from 'pg';
import postgres from 'postgres';
import { createReceiver } from 'storefront-webhooks';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import { expect, onTestFinished, test, vi } from 'vitest';
import { TABLE } from '../../../stores/transactions.js';
import { deliver, paidOrder, SECRET } from '../../../support/deliver.js';
import { startPgbouncer, withPgbouncer } from '../../../support/pgbouncer.js';
import { startPostgres } from '../../../support/postgres.js';

const ORDERS = Array.from({ length: 30 }, (_, at) => `ord_${at}`);

withPgbouncer('behind PgBouncer in transaction mode', () => {
  test.each([
    ['prepared statements that PgBouncer does not keep', {}],
    ['no prepared statements', { prepare: false }],
  ])('every order is sold once, with %s', async (_, options) => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const bouncer = await startPgbouncer(server);
    onTestFinished(() => bouncer.close());
    const onError = vi.fn();
    const open = () => {
      const pool = new pg.Pool({
        connectionString: bouncer.url,
        max: 4,
        query_timeout: 5_000,
        connectionTimeoutMillis: 5_000,
      }).on('error', () => {});
      onTestFinished(() => pool.end());
      return pool;
    };
    const pool = open();
    await pool.query(TABLE);
    const shops = [pool, open()].map((client) =>
      createReceiver({
        secret: SECRET,
        store: postgresStore(client, options),
        hooks: { onError, onRejected() {} },
      }).on(
        'order:paid',
        async ({ payload, tx }) => {
          await tx.query('INSERT INTO sold VALUES ($1)', [payload.id]);
        },
        { name: 'sell', oncePer: (order) => order.id, transaction: true },
      ),
    );
    const sell = (id: string) =>
      Promise.all(
        shops.map(async (shop) => {
          await vi.waitFor(
            async () =>
              expect(await deliver(shop, paidOrder({ id }), { id })).toMatchObject({ status: 200 }),
            { timeout: 20_000, interval: 50 },
          );
        }),
      );
    // Sell the first order alone, so that the tables exist, and then the others at the same time.
    const [first = '', ...others] = ORDERS;
    await sell(first);
    await Promise.all(others.map(sell));
    const { rows } = await pool.query('SELECT order_id FROM sold ORDER BY 1');
    expect(rows.map(({ order_id }) => order_id)).toEqual([...ORDERS].sort());
    // Of 60 copies. A transaction that waits long for one of the two connections may be taken over.
    const errors = onError.mock.calls.map(([error]) => error.code);
    expect(errors.filter((code) => code !== 'lease_lost')).toEqual([]);
    expect(errors.length).toBeLessThan(12);
  });

  test.each(['transaction', 'ledger'])(
    'no order is answered 200 and rolled back, with statements that postgres.js prepares (%s)',
    async (kind) => {
      const server = await startPostgres();
      onTestFinished(() => server.remove());
      const bouncer = await startPgbouncer(server);
      onTestFinished(() => bouncer.close());
      const sql = postgres(bouncer.url, {
        max: 4,
        fetch_types: false,
        idle_timeout: 2,
        connect_timeout: 5,
      });
      onTestFinished(() => sql.end({ timeout: 1 }));
      const pool = new pg.Pool({ connectionString: server.url }).on('error', () => {});
      onTestFinished(() => pool.end());
      await pool.query(TABLE);
      const receiver = createReceiver({
        secret: SECRET,
        store: postgresStore(kind === 'ledger' ? pool : sql),
        hooks: { onError() {}, onRejected() {} },
      });
      const ledger = postgresLedger(sql);
      if (kind === 'transaction') {
        receiver.onPaid(({ payload, tx }) => tx`INSERT INTO sold VALUES (${payload.id})`, {
          transaction: true,
        });
      } else {
        receiver.onPaid((event) =>
          ledger.transaction(sql, event, (tx) => tx`INSERT INTO sold VALUES (${event.payload.id})`),
        );
      }
      const handled: string[] = [];
      const sell = async (id: string) => {
        // A statement that the connection does not have fails, and its delivery is sent again.
        for (let attempt = 0; attempt < 6; attempt++) {
          const { status } = await deliver(receiver, paidOrder({ id }), { id });
          if (status !== 200) continue;
          handled.push(id);
          return;
        }
      };
      await Promise.all(ORDERS.map(sell));
      expect(handled.length).toBeGreaterThan(ORDERS.length / 2);
      const { rows } = await pool.query('SELECT order_id FROM sold');
      const sold = new Set(rows.map(({ order_id }) => order_id));
      expect(handled.filter((id) => !sold.has(id))).toEqual([]);
    },
  );
});
