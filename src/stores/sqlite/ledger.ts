import { UsageError } from '../../errors.js';
import { checkEffect, checkKeys, type Effect, type EffectLedger } from '../ledger.js';
import { connectionOf } from './connection.js';
import { prepare, type SqliteDatabase } from './database.js';
import { checkDatabase } from './opening.js';
import { Row } from './rows.js';
import { EFFECT } from './schema.js';
import { FIND_EFFECTS, NOW } from './statements.js';

const ENTER = `INSERT INTO webhook_effect (key, handler, at) VALUES (?, ?, ${NOW})
ON CONFLICT DO NOTHING RETURNING 1`;

/** Effects that have been done, in the SQLite database in which they are done. */
export interface SqliteLedger extends EffectLedger<SqliteDatabase, boolean> {
  /**
   * Does the effect in a transaction of its own, with its entry as the first statement: the work is done
   * now (`true`), or was done before and is not called (`false`). Where the work throws, all of it is
   * undone, and its error thrown on.
   *
   * The work must not await anything: all other writes of the process wait for it. A lock that another
   * process holds is waited for, up to 5 s, while the event loop goes on. Then it rejects with the error of
   * SQLite, `database is locked`, and nothing was done.
   *
   * @param database - May be that of the store, whose writes it takes turns with. Another one best has
   *   `PRAGMA journal_mode = WAL` as well, or `COMMIT` waits for those who read.
   * @param effect - The handler's event.
   * @param work - Is given the database. Leave `COMMIT` and `ROLLBACK` out.
   * @throws {UsageError} As a rejection, with the code `client_invalid` or `key_invalid`, or `work_invalid`
   *   where the work returns a promise: all is undone but what it does after its first `await`.
   *
   * @example
   * import Database from 'libsql';
   *
   * const database = new Database('shop.db');
   * const ledger = sqliteLedger();
   * receiver.on('order:paid', async (event) => {
   *   await ledger.transaction(database, event, (tx) => {
   *     tx.prepare('UPDATE stock SET pieces = pieces - 1 WHERE product = ?').run(event.payload.product_id);
   *   });
   * });
   */
  transaction<Database extends SqliteDatabase>(
    database: Database,
    effect: Effect,
    work: (tx: Database) => void,
  ): Promise<boolean>;
  /**
   * Gives those of these keys under which an effect is entered, each once, for `reconcile`.
   *
   * @param database - In which the effects are done.
   * @throws {UsageError} As a rejection: `client_invalid` or `key_invalid`. Otherwise it rejects with the errors of
   *   SQLite.
   */
  entered(database: SqliteDatabase, keys: readonly string[]): Promise<string[]>;
}

/**
 * Keeps an effect in a SQLite database exactly once, whatever dies and whenever: its entry is part of the
 * transaction that does it. It makes its table there, too. Its entries are kept for ever.
 *
 * `once` is for a transaction that you have begun, which must not wait for anything: `BEGIN IMMEDIATE`
 * blocks the event loop for as long as another process holds the lock, up to the `busy_timeout` of the
 * connection. Outside of a transaction, it throws a `UsageError` with the code `transaction_missing`, and
 * `key_invalid` where it is not given the key of an event.
 *
 * @example
 * import Database from 'libsql';
 *
 * const database = new Database('shop.db');
 * const ledger = sqliteLedger();
 *
 * receiver.on('order:paid', async (event) => {
 *   await ledger.transaction(database, event, (tx) => {
 *     tx.prepare('UPDATE stock SET pieces = pieces - 1 WHERE product = ?').run(event.payload.product_id);
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
          'ledger.once has to be called inside the transaction of the effect: BEGIN first.',
        );
      }
      return enter(tx, checked);
    },
    async transaction(database, effect, work) {
      checkDatabase(database, 'ledger.transaction');
      const checked = checkEffect(effect);
      // Before it has begun anything, where it says so itself.
      if (Object.prototype.toString.call(work) !== '[object Function]') throw awaiting();
      return connectionOf(database).transact(() => {
        if (!enter(database, checked)) return false;
        const result: unknown = work(database);
        if (!isPromise(result)) return true;
        result.then(undefined, () => {});
        throw awaiting();
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
  // Made within the transaction, and so gone again if that is rolled back.
  tx.exec(EFFECT);
  const row = prepare(tx, ENTER).get(key, handler);
  return row !== undefined && row !== null;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}

function awaiting(): UsageError {
  return new UsageError(
    'work_invalid',
    'The work of ledger.transaction in SQLite has to be a function that returns no promise: no await in ' +
      'it, because all other writes wait for it. Do before it, or after, what takes time.',
  );
}

/** As better-sqlite3, bun:sqlite and newer versions of node:sqlite tell. */
function isOutside(tx: SqliteDatabase & { inTransaction?: boolean; isTransaction?: boolean }) {
  return (tx.inTransaction ?? tx.isTransaction) === false;
}
