import { UsageError } from '../../errors/errors.js';
import { checkEffect, checkKeys, type Effect, type EffectLedger } from '../ledger.js';
import { warnOfLimits } from '../size-limits.js';
import { type PostgresClient, type Query, refuseWrappers, toQuery } from './client.js';
import { guardClient } from './guard-client.js';
import { ENTER_EFFECT, FIND_EFFECTS, FIND_MARK, MARK_TRANSACTION } from './ledger-statements.js';
import { limitsOf } from './limits.js';
import { checkConnected, warnOfClient } from './preconditions.js';
import { retrying } from './retry.js';
import { isUndefined, LOOK_FOR_EFFECTS, makeTables } from './schema.js';
import { storable } from './storable.js';
import { type TransactionSource, toBegin } from './transaction.js';

/** Records which effects are done, in the PostgreSQL database that the effects change. */
export interface PostgresLedger extends EffectLedger<PostgresClient, Promise<boolean>> {
  /**
   * Runs an effect in its own transaction, whose first statement enters the effect. `true`: the work was done now.
   * `false`: it was done before, and is not called. Commits when the work ends. If anything fails, rolls
   * everything back, closes the connection, and rejects with the error.
   *
   * The transaction has the default isolation level of the database. For another one, begin the transaction
   * yourself and call `once`.
   *
   * @param client - The `Pool` of `pg`, the `sql` of postgres.js, or a PGlite.
   * @param effect - The event of the handler.
   * @param work - Gets the driver's own client of the transaction. Do not run `COMMIT` or `ROLLBACK` in it.
   * @throws {UsageError} As a rejection, with the code `client_invalid` or `key_invalid` before anything begins,
   *   or `transaction_missing` if the work has ended its transaction. Otherwise it rejects with the error of the
   *   work, with `schema_missing`, or with the errors of the client: also if a statement failed and the work
   *   caught its error.
   *
   * @example
   * const ledger = postgresLedger(pool);
   * receiver.onPaid(async (event) => {
   *   const { product_id, quantity } = event.payload;
   *   if (!quantity || quantity < 1) throw new Error('This order has no readable quantity.');
   *   await ledger.transaction(pool, event, async (tx) => {
   *     await tx.query('UPDATE stock SET pieces = pieces - $2 WHERE product = $1', [product_id, quantity]);
   *   });
   * });
   */
  transaction<Tx extends PostgresClient>(
    client: TransactionSource<Tx>,
    effect: Effect,
    work: (tx: Tx) => PromiseLike<unknown>,
  ): Promise<boolean>;
  /**
   * Returns the keys that have an effect, each once, for `reconcile`. Uses the client that the ledger was made
   * with.
   *
   * @throws {UsageError} As a rejection: `key_invalid`. Otherwise it rejects with `schema_missing`, or with the
   *   errors of the client.
   */
  entered(keys: readonly string[]): Promise<string[]>;
}

/**
 * Makes a ledger, which runs each effect exactly once, whatever crashes: the transaction that does the effect also
 * enters it. Make one ledger, next to the store. The ledger creates its table if it is missing, and keeps its
 * entries forever.
 *
 * A second transaction with the same effect waits for the first; `lock_timeout` limits the wait. Under
 * `SERIALIZABLE`, retry the whole transaction after error 40001, as usual.
 *
 * @param client - Creates the table at once, so that no transaction has to. If the client could wait forever on a
 *   connection that has fallen silent, one line on stderr warns of it.
 * @throws {UsageError} `client_invalid`. `once` rejects with `transaction_missing` if it gets the pool or a
 *   connection without a transaction, with `key_invalid` if the key is not one of an event, with `schema_missing`,
 *   or with the errors of the client.
 *
 * @example
 * import postgres from 'postgres';
 *
 * const sql = postgres();
 * const ledger = postgresLedger(sql);
 * receiver.onPaid(async (event) => {
 *   const { product_id = '', quantity } = event.payload;
 *   if (!quantity || quantity < 1) throw new Error('This order has no readable quantity.');
 *   await ledger.transaction(sql, event, async (tx) => {
 *     await tx`UPDATE stock SET pieces = pieces - ${quantity} WHERE product = ${product_id}`;
 *   });
 * });
 */
export function postgresLedger(client: PostgresClient): PostgresLedger {
  refuseWrappers(client, 'postgresLedger');
  const query = retrying(toQuery(client));
  warnOfLimits('PostgreSQL', limitsOf(client));
  return new Ledger(query, client);
}

class Ledger implements PostgresLedger {
  readonly #query: Query;
  readonly #client: PostgresClient;
  #isReady = false;

  constructor(query: Query, client: PostgresClient) {
    this.#query = query;
    this.#client = client;
    // A call that comes before the table is made, or after this has failed, makes the table itself. By its answer,
    // the program has set its client up.
    makeTables(query, LOOK_FOR_EFFECTS, () => warnOfClient(client)).catch(() => {});
  }

  async once(tx: PostgresClient, effect: Effect): Promise<boolean> {
    const { key, handler } = checkEffect(effect);
    const query = toQuery(tx);
    if (isPool(tx)) throw outside();
    // In the transaction: to wait for another connection while this one is held could be a deadlock.
    if (!this.#isReady) this.#isReady = (await makeTables(query, LOOK_FOR_EFFECTS)) === 'found';
    // The mark ends with the transaction, which without BEGIN is the statement itself. The mark is unique, so that
    // a pool that runs the next statement on another connection does not find one there.
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
    // Check it before taking a connection.
    checkEffect(effect);
    let isNew = false;
    await begin(async (tx) => {
      isNew = await this.once(tx, effect);
      if (!isNew) return;
      await guardClient(tx).run(work);
      // Sent behind everything that the work has sent.
      await checkInside(toQuery(tx));
    });
    return isNew;
  }

  async entered(keys: readonly string[]): Promise<string[]> {
    const asked = checkKeys(keys);
    checkConnected(this.#client);
    await makeTables(this.#query, LOOK_FOR_EFFECTS);
    const rows = await this.#query(FIND_EFFECTS, [JSON.stringify(asked)]);
    return rows.map((row) => row.text('key'));
  }
}

/**
 * Throws if a statement of the transaction has failed. PostgreSQL would answer COMMIT with a ROLLBACK, which
 * drivers treat as a success. Also throws if the work has ended the transaction.
 */
async function checkInside(query: Query): Promise<void> {
  const [row] = await query(FIND_MARK);
  if (row?.text('mark') !== '') return;
  throw new UsageError(
    'transaction_missing',
    'The work of ledger.transaction must not end the transaction, but has ended it. Leave COMMIT and ROLLBACK ' +
      'out, and throw an error to roll everything back.',
  );
}

/**
 * Returns whether a client is a pool of `pg`, the `sql` of postgres.js or a PGlite, which are never transactions.
 */
function isPool(tx: PostgresClient): boolean {
  return 'totalCount' in tx || 'begin' in tx || 'waitReady' in tx;
}

function outside(): UsageError {
  return new UsageError(
    'transaction_missing',
    'ledger.once needs the transaction of the effect, not the pool or a connection without a transaction: run ' +
      'BEGIN first.',
  );
}
