import { UsageError } from '../../errors/errors.js';
import { withContract } from '../contract.js';
import { hasMethods, isProxy } from '../platform.js';
import { StatementStore } from '../sqlite/statement-store.js';
import { STATEMENTS, type StatementName } from '../sqlite/statements.js';
import { prepareAll, type Transactor, transactionsOn } from '../sqlite/transact.js';
import type { IdempotencyStore } from '../store.js';
import { MAX_BODY_BYTES, type SqlStorage, Tables } from './tables.js';

/** The part of Cloudflare's `DurableObjectStorage` that {@link storageStore} uses. */
export interface OwnStorage extends SqlStorage {
  sync(): Promise<void>;
}

/**
 * Remembers deliveries in the storage of the Durable Object that the receiver runs in, beside the data of its handlers.
 * A handler with `transaction` gets the storage as its `tx`: it changes this data in one transaction with the record of
 * the delivery. The handler must not `await` anything.
 *
 * One object takes some hundred deliveries per second. For more, or if the handlers keep their data elsewhere, use
 * {@link durableObjectStore}.
 *
 * @param storage - The storage of an object with SQLite: `this.ctx.storage`.
 * @throws {UsageError} `client_invalid` if the argument is not such a storage. The verbs reject with the errors of the
 *   runtime.
 *
 * @example
 * import { DurableObject } from 'cloudflare:workers';
 *
 * export class Shop extends DurableObject<Env> {
 *   readonly #webhooks = toFetch(
 *     createReceiver({ secret: this.env.WEBHOOK_SECRET, store: storageStore(this.ctx.storage) }).onPaid(
 *       ({ payload: { product_id, quantity }, tx }) => {
 *         if (!quantity || quantity < 1) throw new Error('This order has no readable quantity.');
 *         tx.sql.exec('UPDATE stock SET pieces = pieces - ? WHERE product = ?', quantity, product_id);
 *       },
 *       { transaction: true },
 *     ),
 *   );
 *
 *   override fetch(request: Request): Promise<Response> {
 *     return this.#webhooks(request, this.ctx);
 *   }
 * }
 */
export function storageStore<Storage extends OwnStorage>(
  storage: Storage,
): IdempotencyStore<Storage> {
  checkStorage(storage);
  const tables = new Tables(storage);
  const store = withContract<Storage>(
    new StatementStore(
      {
        durable: true,
        description: 'the storage of a Durable Object',
        maxBodyBytes: MAX_BODY_BYTES,
      },
      async (name, values) => {
        const rows = tables.exec(STATEMENTS[name], ...values);
        if (BEFORE_WORK.has(name)) await storage.sync();
        return rows;
      },
    ),
  );
  const statements = prepareAll((sql) => ({ all: (...values) => tables.exec(sql, ...values) }));
  const transactor: Transactor<Storage> = {
    tx: storage,
    statements: () => statements,
    transact: async (work) => storage.transactionSync(work),
    // The runtime rejects BEGIN, COMMIT and ROLLBACK.
    hold: (work) => work(),
  };
  return { ...store, transactions: transactionsOn(transactor) };
}

/**
 * The statements before a handler. The runtime writes all of one turn at once, so a handler that ends its object would
 * take its claim along, and the attempt would not count.
 */
const BEFORE_WORK: ReadonlySet<StatementName> = new Set(['claim', 'claimProved', 'renew'] as const);

/** @throws {UsageError} `client_invalid` */
function checkStorage(storage: Partial<OwnStorage> | undefined): void {
  if (!isProxy(storage) && hasMethods(storage, 'transactionSync', 'sync') && hasSqlite(storage))
    return;
  throw new UsageError(
    'client_invalid',
    'storageStore needs the storage of a Durable Object with SQLite, which is this.ctx.storage in its class. ' +
      'Configure the class in wrangler.jsonc: "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Shop"] }].',
  );
}

/** Returns whether the storage runs statements. That of a class without SQLite has `sql`, too, but only throws. */
function hasSqlite(storage: Partial<OwnStorage>): boolean {
  try {
    return storage.sql?.exec('SELECT 1').toArray().length === 1;
  } catch {
    return false;
  }
}
