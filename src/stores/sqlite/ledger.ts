import { UsageError } from '../../errors/errors.js';
import { checkEffect, checkKeys, type Effect, type EffectLedger } from '../ledger.js';
import { returnsPromise } from '../transactions.js';
import { checkDatabase } from './check-database.js';
import { connectionOf } from './connection.js';
import { prepare, type SqliteDatabase } from './database.js';
import { holdOpen } from './hold-open.js';
import { refuseNested } from './nested.js';
import { Row } from './rows.js';
import { EFFECT } from './schema.js';
import { FIND_EFFECTS, NOW } from './statements.js';

const ENTER = `INSERT INTO webhook_effect (key, handler, at) VALUES (?, ?, ${NOW})
ON CONFLICT DO NOTHING RETURNING 1`;

/** Records which effects are done, in the SQLite database that the effects change. */
export interface SqliteLedger extends EffectLedger<SqliteDatabase, boolean> {
  /**
   * Runs an effect in its own transaction, whose first statement enters the effect. `true`: the work was done now.
   * `false`: it was done before, and is not called. If the work throws, everything is rolled back, and the promise
   * rejects with its error.
   *
   * The work must not await anything, because all other writes of the process wait for it. If another process
   * holds the lock, the ledger waits up to 5 s without blocking the event loop. Then it rejects with SQLite's
   * error `database is locked`, and nothing was changed.
   *
   * The promise resolves once the transaction is on the disk, so that a power cut cannot undo it: for the
   * transaction, the ledger raises `PRAGMA synchronous` to `FULL` if it is lower, as by default in WAL mode with
   * better-sqlite3.
   *
   * @param database - May be the store's database; then the ledger and the store take turns. For another database,
   *   set `PRAGMA journal_mode = WAL` too, or `COMMIT` waits for readers.
   * @param effect - The event of the handler.
   * @param work - Gets the database. Do not run `COMMIT` or `ROLLBACK` in it.
   * @throws {UsageError} As a rejection, with the code `client_invalid` or `key_invalid`, `transaction_missing` if the
   *   work has ended its transaction, or `work_invalid` if the work begins another transaction, or returns a promise:
   *   then everything is rolled back, except what the work does after its first `await`.
   *
   * @example
   * import Database from 'libsql';
   *
   * const database = new Database('shop.db');
   * const ledger = sqliteLedger();
   * receiver.onPaid(async (event) => {
   *   const { product_id, quantity } = event.payload;
   *   if (!quantity || quantity < 1) throw new Error('This order has no readable quantity.');
   *   await ledger.transaction(database, event, (tx) => {
   *     tx.prepare('UPDATE stock SET pieces = pieces - ? WHERE product = ?').run(quantity, product_id);
   *   });
   * });
   */
  transaction<Database extends SqliteDatabase>(
    database: Database,
    effect: Effect,
    work: (tx: Database) => void,
  ): Promise<boolean>;
  /**
   * Returns the keys that have an effect, each once, for `reconcile`.
   *
   * @param database - The database of the effects.
   * @throws {UsageError} As a rejection: `client_invalid` or `key_invalid`. Otherwise it rejects with the errors
   *   of SQLite.
   */
  entered(database: SqliteDatabase, keys: readonly string[]): Promise<string[]>;
}

/**
 * Makes a ledger, which runs each effect in a SQLite database exactly once, whatever crashes: the transaction that
 * does the effect also enters it. The ledger creates its table if it is missing, and keeps its entries forever.
 *
 * `once` is for a transaction that you have begun. The transaction must not await anything: `BEGIN IMMEDIATE`
 * blocks the event loop while another process holds the lock, up to the `busy_timeout` of the connection. With
 * better-sqlite3 in WAL mode, set `PRAGMA synchronous = FULL`, or a power cut can undo the transaction. `once`
 * throws a `UsageError`: `transaction_missing` outside of a transaction, and `key_invalid` if the key is not one
 * of an event.
 *
 * @example
 * import Database from 'libsql';
 *
 * const database = new Database('shop.db');
 * const ledger = sqliteLedger();
 *
 * receiver.onPaid(async (event) => {
 *   const { product_id, quantity } = event.payload;
 *   if (!quantity || quantity < 1) throw new Error('This order has no readable quantity.');
 *   await ledger.transaction(database, event, (tx) => {
 *     tx.prepare('UPDATE stock SET pieces = pieces - ? WHERE product = ?').run(quantity, product_id);
 *   });
 * });
 */
export function sqliteLedger(): SqliteLedger {
  return {
    once(tx, effect) {
      const checked = checkEffect(effect);
      if (isOutside(tx)) {
        throw new UsageError(
          'transaction_missing',
          'ledger.once has to be called inside the transaction of the effect: run BEGIN first.',
        );
      }
      return enter(tx, checked);
    },
    async transaction(database, effect, work) {
      checkDatabase(database, 'ledger.transaction');
      const checked = checkEffect(effect);
      // Reject an async function before the transaction begins.
      if (Object.prototype.toString.call(work) !== '[object Function]') throw awaiting();
      return connectionOf(database).transact(() => {
        if (!enter(database, checked)) return false;
        holdOpen(database, () => {
          const result: unknown = refuseNested('work_invalid', () => work(database));
          if (returnsPromise(result)) throw awaiting();
        });
        return true;
      });
    },
    async entered(database, keys) {
      checkDatabase(database, 'ledger.entered');
      const asked = JSON.stringify(checkKeys(keys));
      database.exec(EFFECT);
      const rows = prepare(database, FIND_EFFECTS).all(asked);
      return rows.map((row) => new Row(row).text('key'));
    },
  };
}

function enter(tx: SqliteDatabase, { key, handler }: Effect): boolean {
  // Created within the transaction, so that a rollback removes the table again.
  tx.exec(EFFECT);
  const row = prepare(tx, ENTER).get(key, handler);
  return row !== undefined && row !== null;
}

function awaiting(): UsageError {
  return new UsageError(
    'work_invalid',
    'The work of ledger.transaction in SQLite has to be a function that returns no promise. Use no await in ' +
      'it, because all other writes wait for it. Await before or after the transaction instead.',
  );
}

/** Returns whether no transaction is open. */
function isOutside(
  tx: SqliteDatabase & { inTransaction?: boolean; isTransaction?: boolean },
): boolean {
  const isInside = tx.inTransaction ?? tx.isTransaction;
  if (isInside !== undefined) return !isInside;
  // node:sqlite shows it since Node 22.16. Within a transaction, BEGIN fails and changes nothing.
  try {
    tx.exec('BEGIN');
  } catch {
    return false;
  }
  tx.exec('ROLLBACK');
  return true;
}
