import {
  type D1Batch,
  type D1Client,
  type D1Statement,
  d1Store,
} from 'storefront-webhooks/cloudflare';
import { expect, test } from 'vitest';
import { EXPIRE } from '../../../stores/d1/over-libsql.js';
import { send } from '../../../stores/durable-object/receiver.js';
import { describeTransactions, TABLE } from '../../../stores/transactions.js';
import { type ServedStore, type Sql, withWorker } from '../../../stores/workerd/served.js';
import { paidOrder } from '../../../support/deliver.js';

type Value = Exclude<Sql[number], undefined>;

/** The real D1 in workerd, to which the store in this process sends its statements. */
class RemoteD1 implements D1Client {
  readonly #served: ServedStore;

  constructor(served: ServedStore) {
    this.#served = served;
  }

  prepare(query: string): RemoteStatement {
    return new RemoteStatement(this.#served, [query]);
  }

  async batch(statements: D1Statement[]): Promise<{ results: unknown[] }[]> {
    const sql = statements.map((statement) => {
      if (statement instanceof RemoteStatement) return statement.sql;
      throw new TypeError('It is of another database.');
    });
    return (await this.#served.batch(sql)).map((results) => ({ results }));
  }
}

class RemoteStatement implements D1Statement {
  readonly #served: ServedStore;
  readonly sql: Sql;

  constructor(served: ServedStore, sql: Sql) {
    this.#served = served;
    this.sql = sql;
  }

  bind(...values: Value[]): RemoteStatement {
    return new RemoteStatement(this.#served, [this.sql[0], ...values]);
  }

  async all(): Promise<{ results: unknown[] }> {
    const [results = []] = await this.#served.batch([this.sql]);
    return { results };
  }
}

withWorker('handlers with a transaction on the D1 of workerd', (worker) => {
  describeTransactions<D1Batch>(
    'D1',
    async () => {
      const served = worker().store({ store: 'd1' });
      await served.count({ state: 'dead' });
      await served.sql('DELETE FROM webhook_delivery');
      await served.sql('DROP TABLE IF EXISTS sold');
      await served.sql(TABLE);
      const d1 = new RemoteD1(served);
      return {
        store: d1Store(d1),
        other: d1Store(d1),
        run: (tx, statement) => tx.add(d1.prepare(statement)),
        exec: (statements) => served.sql(statements),
        sold: async () => (await served.sql('SELECT * FROM sold')).length,
      };
    },
    { expire: EXPIRE },
  );

  test('a Worker sells once for many copies and deliveries of an order', async () => {
    const served = worker().store({ store: 'd1' });
    await served.sql('DROP TABLE IF EXISTS sold');
    await served.sql(TABLE);
    const order = paidOrder({ id: `ord_${crypto.randomUUID()}` });
    const send20 = () =>
      Promise.all(
        Array.from({ length: 20 }, (_, copy) =>
          send(worker(), order, { path: '/sales', id: `whl_${copy % 4}` }),
        ),
      );
    const answers = await send20();
    expect(answers.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await send20()).toEqual(Array(20).fill(200));
    expect(await served.sql('SELECT order_id FROM sold')).toEqual([{ order_id: order.id }]);
  });
});
