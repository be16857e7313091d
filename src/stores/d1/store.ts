import { forward, type ReadFilter, withContract } from '../contract.js';
import { listInPages } from '../durable-object/pages.js';
import { Row } from '../sqlite/rows.js';
import { sqliteSchema } from '../sqlite/schema.js';
import { StatementStore } from '../sqlite/statement-store.js';
import { FIND_DONE } from '../sqlite/statements.js';
import type { Claim, Claimable, IdempotencyStore, LeaseTerms, StoredDelivery } from '../store.js';
import { checkD1, checkTables, type D1Client, withTables } from './database.js';
import { Purge } from './purge.js';
import { bind } from './statement.js';
import { type D1Batch, d1Transactions } from './transact.js';

/**
 * Remembers deliveries in a D1 database: durable, for all isolates of a Worker. The store creates its tables if
 * they are missing, or uses those of {@link d1Schema}.
 *
 * The store purges by itself, together with a completion, so its `purge` does nothing and returns 0. A handler with
 * `transaction` gets a {@link D1Batch} as its `tx`.
 *
 * A row holds 2 MB, and bodies are base64, so the receiver's `limit` must not be above 1,400,000 bytes. The default of
 * 1 MiB fits.
 *
 * @throws {UsageError} `client_invalid` if the argument is not a D1 database. The verbs reject with the errors of
 *   D1.
 *
 * @example
 * export default toWorker((env: Env) =>
 *   createReceiver({ secret: env.WEBHOOK_SECRET, store: d1Store(env.DB) }),
 * );
 */
export function d1Store(database: D1Client): IdempotencyStore<D1Batch> {
  checkD1(database, 'd1Store');
  const purge = new Purge(database);
  const store = withContract<D1Batch>(new D1Store(database, purge));
  return forward(store, {
    // The store purges by itself. With the receiver's purging, it would purge twice.
    purge: async () => 0,
    transactions: d1Transactions(database, purge),
  });
}

/**
 * Returns the SQL of the tables of {@link d1Store} and {@link d1Ledger}, for `wrangler d1 migrations`. It can be
 * applied repeatedly. Without it, the store and the ledger create missing tables themselves.
 *
 * @example
 * // node print-schema.js > migrations/0001_webhooks.sql
 * console.log(d1Schema());
 */
export function d1Schema(): string {
  return sqliteSchema();
}

/** Keys that were asked for together. */
interface Asked {
  readonly keys: Set<string>;
  readonly done: Promise<ReadonlySet<string>>;
}

/** @internal */
export class D1Store extends StatementStore {
  readonly #findDone: (keys: ReadonlySet<string>) => Promise<ReadonlySet<string>>;
  #asked: Asked | undefined;

  constructor(database: D1Client, purge: Purge) {
    let isChecked = false;
    const run = (statement: () => Promise<readonly unknown[]>) =>
      withTables(database, async () => {
        if (!isChecked) await checkTables(database);
        isChecked = true;
        return statement();
      });
    super({ durable: true, description: 'D1', maxBodyBytes: 1_400_000 }, (name, values) =>
      run(async () => {
        const statement = bind(database, name, values);
        if (name !== 'complete') return (await statement.all()).results;
        const [completed] = await purge.runWith(statement);
        return completed?.results ?? [];
      }),
    );
    this.#findDone = async (keys) => {
      const asked = JSON.stringify([...keys]);
      const rows = await run(
        async () => (await database.prepare(FIND_DONE).bind(asked).all()).results,
      );
      return new Set(rows.map((row) => new Row(row).text('key')));
    };
  }

  /** No transaction holds a delivery while its handler runs: its lease does. */
  override claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim> {
    return super.claim(delivery, { ...lease, isTransaction: false });
  }

  /**
   * Calls without a pause between them share a query, because D1 allows a Worker so many, and recovery asks for many keys.
   * They are of one request: a Worker must not wait for the query of another.
   */
  override async isDone(key: string): Promise<boolean> {
    this.#asked ??= this.#askTogether();
    const { keys, done } = this.#asked;
    keys.add(key);
    return (await done).has(key);
  }

  #askTogether(): Asked {
    const keys = new Set<string>();
    const done = Promise.resolve().then(() => {
      this.#asked = undefined;
      return this.#findDone(keys);
    });
    return { keys, done };
  }

  override list(filter: ReadFilter): Promise<StoredDelivery[]> {
    return listInPages((page) => super.list(page), filter);
  }
}
