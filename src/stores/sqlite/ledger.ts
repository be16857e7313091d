import { UsageError } from '../../errors.js';
import { checkEffect, type EffectLedger } from '../ledger.js';
import { prepare, type SqliteDatabase } from './database.js';
import { EFFECT } from './schema.js';
import { NOW } from './statements.js';

const ENTER = `INSERT INTO webhook_effect (key, handler, at) VALUES (?, ?, ${NOW})
ON CONFLICT DO NOTHING RETURNING 1`;

/**
 * Keeps an effect in a SQLite database exactly once, whatever dies and whenever: its entry is part of the
 * handler's own transaction, which must not wait for anything. It makes its table there, too. Outside
 * of a transaction, `once` throws a `UsageError` with the code `transaction_missing`, and `key_invalid`
 * where it is not given the key of an event. A connection that is not the store's needs a
 * `busy_timeout`, to wait for the store's writes.
 *
 * @example
 * const ledger = sqliteLedger();
 *
 * receiver.on('order:paid', (event) => {
 *   database.exec('BEGIN IMMEDIATE');
 *   try {
 *     if (ledger.once(database, event)) sell(event.payload);
 *     database.exec('COMMIT');
 *   } catch (error) {
 *     database.exec('ROLLBACK');
 *     throw error;
 *   }
 * });
 */
export function sqliteLedger(): EffectLedger<SqliteDatabase, boolean> {
  return {
    once(tx, effect) {
      const { key, handler } = checkEffect(effect);
      if (isOutside(tx)) {
        throw new UsageError(
          'transaction_missing',
          'ledger.once has to be called inside the transaction of the effect: BEGIN first.',
        );
      }
      // Made within the transaction, and so gone again if that is rolled back.
      tx.exec(EFFECT);
      const row = prepare(tx, ENTER).get(key, handler);
      return row !== undefined && row !== null;
    },
  };
}

/** As better-sqlite3, bun:sqlite and newer versions of node:sqlite tell. */
function isOutside(tx: SqliteDatabase & { inTransaction?: boolean; isTransaction?: boolean }) {
  return (tx.inTransaction ?? tx.isTransaction) === false;
}
