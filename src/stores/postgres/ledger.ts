import { UsageError } from '../../errors.js';
import { checkEffect, type Effect, type EffectLedger } from '../ledger.js';
import { type PostgresClient, type Query, toQuery } from './client.js';
import { storable } from './encoding.js';
import { retrying } from './retrying.js';
import { isUndefined, LOOK_FOR_EFFECTS, makeTables } from './schema.js';
import { ENTER_EFFECT, MARK_TRANSACTION } from './statements.js';

/**
 * Has an effect done exactly once, whatever dies and whenever: it is entered in the transaction that does
 * it. Make it once, beside the store; it creates its table if need be. Its entries are kept for ever.
 *
 * A second transaction with the same effect waits for the first, so set `lock_timeout` to wait no longer
 * than you like. Under `SERIALIZABLE` try the whole transaction again at 40001, as with any other.
 *
 * @param client - Through which the table is created at once, so that no transaction has to do it.
 * @throws {UsageError} `client_invalid`. `once` rejects with `transaction_missing` where it is given the
 *   pool or a connection on which no transaction has begun, with `key_invalid` where it is not given the key of an event, with `schema_missing`, or with
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
    makeTables(query, LOOK_FOR_EFFECTS).catch(() => {});
  }

  async once(tx: PostgresClient, effect: Effect): Promise<boolean> {
    const { key, handler } = checkEffect(effect);
    const query = toQuery(tx);
    if (isPool(tx)) throw outside();
    // In the transaction: to wait for another connection while this one is held would be a deadlock.
    if (!this.#isReady) this.#isReady = await makeTables(query, LOOK_FOR_EFFECTS);
    // Gone with the transaction, which without BEGIN is the statement itself; nobody else knows it, where
    // a pool gives the next statement to another connection.
    const mark = crypto.randomUUID();
    await query(MARK_TRANSACTION, [mark]);
    try {
      const [row] = await query(ENTER_EFFECT, [key, storable(handler), mark]);
      if (row?.text('state') === 'outside') throw outside();
      return row?.text('state') === 'entered';
    } catch (error) {
      if (isUndefined(error)) this.#isReady = false;
      throw error;
    }
  }
}

/** A pool of `pg`, the `sql` of postgres.js and a PGlite are no transaction, and not asked whether they are. */
function isPool(tx: PostgresClient): boolean {
  return 'totalCount' in tx || 'begin' in tx || 'waitReady' in tx;
}

function outside(): UsageError {
  return new UsageError(
    'transaction_missing',
    'ledger.once has to be given the transaction of the effect, not the pool or a connection on which ' +
      'none has begun: BEGIN first.',
  );
}
