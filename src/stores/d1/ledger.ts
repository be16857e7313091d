import { checkEffect, checkKeys, type Effect } from '../ledger.js';
import { Row } from '../sqlite/rows.js';
import { FIND_EFFECTS, NOW } from '../sqlite/statements.js';
import { checkD1, type D1Client, type D1Statement, withTables } from './database.js';

/** Records which effects are done, in the D1 database that the effects change. */
export interface D1Ledger {
  /**
   * Runs the statements in one transaction with the entry of the effect, which comes first. `false`: the effect
   * was done before, and nothing ran. If a statement fails, everything is rolled back, and its error is thrown.
   *
   * @param effect - The event of the handler.
   */
  batch(effect: Effect, statements: readonly D1Statement[]): Promise<boolean>;
  /**
   * Returns the keys that have an effect, each once, for `reconcile`. Rejects with a `UsageError`, `key_invalid`,
   * or with the errors of D1.
   */
  entered(keys: readonly string[]): Promise<string[]>;
}

// Without ON CONFLICT, so that the error of a second entry rolls back the whole batch.
const ENTER = `INSERT INTO webhook_effect (key, handler, at) VALUES (?, ?, ${NOW})`;
const FIND = 'SELECT 1 FROM webhook_effect WHERE key = ? AND handler = ?';

/**
 * Makes a ledger, which runs each effect exactly once, whatever crashes. D1 has batches as its only transactions,
 * so an effect is a list of statements. The ledger creates its table if it is missing, and keeps its entries
 * forever.
 *
 * @throws {UsageError} `client_invalid`. `batch` rejects with `key_invalid` if the key is not one of an event, or
 *   with the errors of D1.
 *
 * @example
 * toWorker((env: Env) => {
 *   const ledger = d1Ledger(env.DB);
 *   const sell = env.DB.prepare('UPDATE stock SET pieces = pieces - ? WHERE product = ?');
 *   return createReceiver({ secret: env.WEBHOOK_SECRET, store: d1Store(env.DB) }).onPaid((event) => {
 *     const { product_id, quantity } = event.payload;
 *     if (!quantity || quantity < 1) throw new Error('This order has no readable quantity.');
 *     return ledger.batch(event, [sell.bind(quantity, product_id)]);
 *   });
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
        // The error may come from a statement of the user that enters effects itself.
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
