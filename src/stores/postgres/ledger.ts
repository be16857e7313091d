import { UsageError } from '../../errors.js';
import { checkEffect, checkKeys, type Effect, type EffectLedger } from '../ledger.js';
import { warnOfLimits } from '../limits.js';
import { type PostgresClient, type Query, toQuery } from './client.js';
import { storable } from './encoding.js';
import { limitsOf } from './limits.js';
import { retrying } from './retrying.js';
import { isUndefined, LOOK_FOR_EFFECTS, makeTables } from './schema.js';
import { ENTER_EFFECT, FIND_EFFECTS, FIND_MARK, MARK_TRANSACTION } from './statements.js';
import { type TransactionSource, toBegin } from './transaction.js';

/** Effects that have been done, in the PostgreSQL database in which they are done. */
export interface PostgresLedger extends EffectLedger<PostgresClient, Promise<boolean>> {
  /**
   * Does the effect in a transaction of its own, with its entry as the first statement: the work is done
   * now (`true`), or was done before and is not called (`false`). Commits when the work has ended, and
   * undoes all of it where anything fails; the connection is then closed, and the error thrown on.
   *
   * The transaction is as the database begins one by default. For another isolation level, begin it
   * yourself and call `once`.
   *
   * @param client - The `Pool` of `pg`, the `sql` of postgres.js, or a PGlite.
   * @param effect - The handler's event.
   * @param work - Is given the driver's own client of the transaction. Leave `COMMIT` and `ROLLBACK` out.
   * @throws {UsageError} As a rejection, with the code `client_invalid` or `key_invalid` before anything is
   *   begun, or `transaction_missing` where the work has ended its transaction. Otherwise it rejects with
   *   the error of the work, with `schema_missing`, or with the errors of the client: also where a
   *   statement has failed and the work did not let its error through.
   *
   * @example
   * const ledger = postgresLedger(pool);
   * receiver.on('order:paid', async (event) => {
   *   await ledger.transaction(pool, event, async (tx) => {
   *     await tx.query('UPDATE stock SET pieces = pieces - 1 WHERE product = $1', [event.payload.product_id]);
   *   });
   * });
   */
  transaction<Tx extends PostgresClient>(
    client: TransactionSource<Tx>,
    effect: Effect,
    work: (tx: Tx) => PromiseLike<unknown>,
  ): Promise<boolean>;
  /**
   * Gives those of these keys under which an effect is entered, each once, for `reconcile`. Through the client that
   * the ledger was made with.
   *
   * @throws {UsageError} As a rejection: `key_invalid`. Otherwise it rejects with `schema_missing`, or with the
   *   errors of the client.
   */
  entered(keys: readonly string[]): Promise<string[]>;
}

/**
 * Has an effect done exactly once, whatever dies and whenever: it is entered in the transaction that does
 * it. Make it once, beside the store; it creates its table if need be. Its entries are kept for ever.
 *
 * A second transaction with the same effect waits for the first, so set `lock_timeout` to wait no longer
 * than you like. Under `SERIALIZABLE` try the whole transaction again at 40001, as with any other.
 *
 * @param client - Through which the table is created at once, so that no transaction has to do it. Where it
 *   would wait for ever on a connection that has gone silent, one line on stderr says so.
 * @throws {UsageError} `client_invalid`. `once` rejects with `transaction_missing` where it is given the
 *   pool or a connection on which no transaction has begun, with `key_invalid` where it is not given the
 *   key of an event, with `schema_missing`, or with the errors of the client.
 *
 * @example
 * import postgres from 'postgres';
 *
 * const sql = postgres();
 * const ledger = postgresLedger(sql);
 * receiver.on('order:paid', async (event) => {
 *   await ledger.transaction(sql, event, async (tx) => {
 *     await tx`UPDATE stock SET pieces = pieces - 1 WHERE product = ${event.payload.product_id ?? null}`;
 *   });
 * });
 */
export function postgresLedger(client: PostgresClient): PostgresLedger {
  const query = retrying(toQuery(client));
  warnOfLimits('PostgreSQL', limitsOf(client));
  return new Ledger(query);
}

class Ledger implements PostgresLedger {
  readonly #query: Query;
  #isReady = false;

  constructor(query: Query) {
    this.#query = query;
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

  async transaction<Tx extends PostgresClient>(
    client: TransactionSource<Tx>,
    effect: Effect,
    work: (tx: Tx) => PromiseLike<unknown>,
  ): Promise<boolean> {
    const begin = toBegin(client);
    // Before a connection is taken for it.
    checkEffect(effect);
    let isNew = false;
    await begin(async (tx) => {
      isNew = await this.once(tx, effect);
      if (!isNew) return;
      await work(tx);
      await checkInside(toQuery(tx));
    });
    return isNew;
  }

  async entered(keys: readonly string[]): Promise<string[]> {
    const asked = checkKeys(keys);
    await makeTables(this.#query, LOOK_FOR_EFFECTS);
    const rows = await this.#query(FIND_EFFECTS, [JSON.stringify(asked)]);
    return rows.map((row) => row.text('key'));
  }
}

/**
 * Fails where a statement has failed: PostgreSQL would answer COMMIT with a ROLLBACK, which drivers take for
 * a success.
 */
async function checkInside(query: Query): Promise<void> {
  const [row] = await query(FIND_MARK);
  if (row?.text('mark') !== '') return;
  throw new UsageError(
    'transaction_missing',
    'The work of ledger.transaction has ended its transaction, which is not its own: leave COMMIT and ' +
      'ROLLBACK out, and throw an error where all is to be undone.',
  );
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
