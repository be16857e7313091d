import pg from 'pg';
import { createReceiver } from 'storefront-webhooks';
import { postgresStore } from 'storefront-webhooks/postgres';
import { deliver, paidOrder, SECRET } from '../../../../support/deliver.js';

// A process that sells a licence, reports it, and is killed before it can commit.
const [, , connectionString, n] = process.argv;
const pool = new pg.Pool({ connectionString });
const receiver = createReceiver({ secret: SECRET, store: postgresStore(pool) }).on(
  'order:paid',
  async ({ payload, tx }) => {
    await tx.query('INSERT INTO sold VALUES ($1)', [payload.id]);
    process.stdout.write('sold');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  },
  { name: 'sell', oncePer: (order) => order.id, transaction: true },
);
void deliver(receiver, paidOrder({ id: `ord_${n}` }), { id: `whl_${n}` });
