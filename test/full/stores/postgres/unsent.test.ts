import postgres from 'postgres';
import { createReceiver } from 'storefront-webhooks';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { deliver, paidOrder, SECRET } from '../../../support/deliver.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

/** The parts of a transaction of postgres.js that the tests use. */
interface Tx {
  (strings: TemplateStringsArray, ...values: unknown[]): Promise<unknown> & { execute(): unknown };
  savepoint(part: (tx: Tx) => unknown): Promise<unknown>;
}

withPostgres('a statement of postgres.js that fails before it is sent', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  /** Delivers an order, and returns the status and the number of rows. */
  async function sell(kind: string, work: (tx: Tx) => unknown) {
    const sql = postgres(server.url, {
      max: 3,
      fetch_types: false,
      idle_timeout: 2,
      onnotice() {},
    });
    onTestFinished(() => sql.end({ timeout: 1 }));
    await sql.unsafe('DROP TABLE IF EXISTS sold; CREATE TABLE sold (order_id text)');
    const hooks = { onError() {}, onRejected() {} };
    const receiver = createReceiver({ secret: SECRET, store: postgresStore(sql), hooks });
    const ledger = postgresLedger(sql);
    const run = async (tx: unknown) => void (await work(tx as Tx));
    if (kind === 'transaction') receiver.onPaid(({ tx }) => run(tx), { transaction: true });
    else receiver.onPaid((event) => ledger.transaction(sql, event, run));
    const id = crypto.randomUUID();
    const { status } = await deliver(receiver, paidOrder({ id }), { id });
    return [status, (await sql`SELECT 1 FROM sold`).length];
  }

  describe.each(['transaction', 'ledger'])('in a %s', (kind) => {
    test.each<[string, (tx: Tx) => unknown]>([
      ['that is not awaited', (tx) => void tx`INSERT INTO sold VALUES (${undefined})`.execute()],
      ['whose error is caught', (tx) => tx`INSERT INTO sold VALUES (${undefined})`.catch(() => {})],
    ])('fails the delivery (%s)', async (_, work) => {
      expect(await sell(kind, work)).toEqual([500, 0]);
    });

    test('takes back its savepoint alone', async () => {
      const work = async (tx: Tx) => {
        await tx.savepoint((part) => part`INSERT INTO sold VALUES (${undefined})`).catch(() => {});
        await tx`INSERT INTO sold VALUES ('ord_1')`;
      };
      expect(await sell(kind, work)).toEqual([200, 1]);
    });
  });
});
