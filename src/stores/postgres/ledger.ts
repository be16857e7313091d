import { UsageError } from '../../errors.js';
import type { EffectLedger } from '../ledger.js';
import { type PostgresClient, type Query, toQuery } from './client.js';
import { storable } from './encoding.js';
import { retrying } from './retrying.js';
import { isUndefinedTable, makeTables } from './schema.js';
import { ENTER_EFFECT } from './statements.js';

/**
 * Has an effect done exactly once, whatever dies and whenever: it is entered in the transaction that does
 * it. Make it once, beside the store; it creates its table if need be. Its entries are kept for ever.
 *
 * A second transaction with the same effect waits for the first, so set `lock_timeout` to wait no longer
 * than you like. Under `SERIALIZABLE` try the whole transaction again at 40001, as with any other.
 *
 * @param client - Through which the table is created at once, so that no transaction has to do it.
 * @throws {UsageError} `client_invalid`. `once` rejects with `transaction_missing` where it is given the
 *   pool, with `key_invalid` where it is not given the key of an event, with `schema_missing`, or with
 *   the errors of the client.
 *
 * @example
 * const ledger = postgresLedger(sql);
 * receiver.on('order:paid', (event) =>
 *   sql.begin(async (tx) => {
 *     if (!(await ledger.once(tx, event))) return;
 *     await tx`UPDATE stock SET amount = amount - 1 WHERE product = ${event.payload.product_id}`;
 *   }),
 * );
 */
export function postgresLedger(
  client: PostgresClient,
): EffectLedger<PostgresClient, Promise<boolean>> {
  return new PostgresLedger(retrying(toQuery(client)));
}

class PostgresLedger implements EffectLedger<PostgresClient, Promise<boolean>> {
  #isReady = false;

  constructor(query: Query) {
    // Whoever comes before it is made, or after that has failed, makes it himself.
    makeTables(query).catch(() => {});
  }

  async once(
    tx: PostgresClient,
    { key, handler }: { readonly key: string; readonly handler: string },
  ): Promise<boolean> {
    const query = toQuery(tx);
    if (!KEY.test(key)) {
      throw new UsageError('key_invalid', 'Pass the event itself, or its `key` and `handler`.');
    }
    if (isOutside(tx)) {
      throw new UsageError(
        'transaction_missing',
        'ledger.once has to be given the transaction of the effect, not the pool: BEGIN first.',
      );
    }
    // In the transaction: to wait for another connection while this one is held would be a deadlock.
    if (!this.#isReady) this.#isReady = await makeTables(query);
    try {
      return (await query(ENTER_EFFECT, [key, storable(handler)])).length > 0;
    } catch (error) {
      if (isUndefinedTable(error)) this.#isReady = false;
      throw error;
    }
  }
}

/** A pool of `pg`, the `sql` of postgres.js and a PGlite are no transaction; of a client nobody knows. */
function isOutside(tx: PostgresClient): boolean {
  return 'totalCount' in tx || 'begin' in tx || 'waitReady' in tx;
}

const KEY = /^[\da-f]{64}$/i;
