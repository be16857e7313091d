import { checkEffect, checkKeys, type Effect } from '../ledger.js';
import { Row } from '../sqlite/rows.js';
import { FIND_EFFECTS, NOW } from '../sqlite/statements.js';
import { checkD1, type D1Client, type D1Statement, withTables } from './database.js';

/** Effects that have been done, in the D1 database in which they are done. */
export interface D1Ledger {
  /**
   * Does the statements in one transaction with the entry of the effect, which comes first. `false`: it has
   * been done before, and nothing was done. Where a statement fails, all is undone and its error thrown.
   *
   * @param effect - The handler's event.
   */
  batch(effect: Effect, statements: readonly D1Statement[]): Promise<boolean>;
  /**
   * Gives those of these keys under which an effect is entered, each once, for `reconcile`. Rejects with a
   * `UsageError`, `key_invalid`, or with the errors of D1.
   */
  entered(keys: readonly string[]): Promise<string[]>;
}

// There is no ON CONFLICT: the error of a second entry is what undoes the whole batch.
const ENTER = `INSERT INTO webhook_effect (key, handler, at) VALUES (?, ?, ${NOW})`;
const FIND = 'SELECT 1 FROM webhook_effect WHERE key = ? AND handler = ?';

/**
 * Has an effect done exactly once, whatever dies and whenever: D1 has no transactions but batches, so the
 * effect is given as statements. It makes its table where it is missing. Its entries are kept for ever.
 *
 * @throws {UsageError} `client_invalid`. `batch` rejects with `key_invalid` where it is not given the key
 *   of an event, or with the errors of D1.
 *
 * @example
 * toWorker((env: Env) => {
 *   const ledger = d1Ledger(env.DB);
 *   const sell = env.DB.prepare('UPDATE stock SET amount = amount - 1 WHERE product = ?');
 *   return createReceiver({ secret: env.WEBHOOK_SECRET, store: d1Store(env.DB) }).on(
 *     'order:paid',
 *     (event) => ledger.batch(event, [sell.bind(event.payload.product_id)]),
 *   );
 * });
 */
export function d1Ledger(database: D1Client): D1Ledger {
  checkD1(database, 'd1Ledger');
  return {
    async batch(effect, statements) {
      const { key, handler } = checkEffect(effect);
      const bound = (query: string) => database.prepare(query).bind(key, handler);
      try {
        await withTables(database, () => database.batch([bound(ENTER), ...statements]));
        return true;
      } catch (error) {
        if (!isEntered(error)) throw error;
        // A statement of the user's that enters effects may have failed instead.
        if ((await bound(FIND).all()).results.length > 0) return false;
        throw error;
      }
    },
    async entered(keys) {
      const statement = database.prepare(FIND_EFFECTS).bind(JSON.stringify(checkKeys(keys)));
      const { results } = await withTables(database, () => statement.all());
      return results.map((row) => new Row(row).text('key'));
    },
  };
}

function isEntered(error: unknown): boolean {
  const text = 'UNIQUE constraint failed: webhook_effect.key, webhook_effect.handler';
  return error instanceof Error && error.message.includes(text);
}
