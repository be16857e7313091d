import { UsageError, WebhookError } from '../../errors/errors.js';
import { withTimeout } from '../../runtime/timing.js';
import { Row } from '../sqlite/rows.js';
import { finite } from '../sqlite/statement-store.js';
import { DONE, NOW, STATEMENTS } from '../sqlite/statements.js';
import type { StoreTransactions, Transacted, TransactTerms } from '../store.js';
import { awaitAll, refuseSkipOlder, refuseStep } from '../transactions.js';
import type { D1Client, D1Statement } from './database.js';
import type { Purge } from './purge.js';

/**
 * The `tx` of a handler with `transaction` on D1: a batch, because D1 has no other transactions. The handler reads from
 * the database as usual, and adds its writes to the batch.
 */
export interface D1Batch {
  /**
   * Adds statements. They run in this order after the handler has ended, together with the record of the delivery. If
   * one of them fails, D1 undoes all of them, and the provider retries the delivery.
   *
   * @throws {UsageError} `transaction_missing` after the handler has ended.
   *
   * @example
   * toWorker((env: Env) => {
   *   const sell = env.DB.prepare('UPDATE stock SET pieces = pieces - ? WHERE product = ?');
   *   return createReceiver({ secret: env.WEBHOOK_SECRET, store: d1Store(env.DB) }).onPaid(
   *     ({ payload: { product_id, quantity }, tx }) => {
   *       if (!quantity || quantity < 1) throw new Error('This order has no readable quantity.');
   *       tx.add(sell.bind(quantity, product_id));
   *     },
   *     { transaction: true },
   *   );
   * });
   */
  add(...statements: readonly D1Statement[]): void;
}

const BUSY = `state = 'leased' AND not_before > ${NOW}`;

/** key, fence, effect. Fails, and so undoes the batch, if the lease is lost, or the effect done or being done. */
const GUARD = `SELECT iif(
    EXISTS (SELECT 1 FROM webhook_delivery WHERE key = ? AND fence = ? AND state = 'leased')
    AND NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE key = ? AND (state = 'done' OR ${BUSY})),
  1, json(''))`;

/** effect, key */
const COMPLETE_EFFECT = `INSERT INTO webhook_delivery
  (key, scope, delivery_id, event, received_at, body, state, owner, fence, not_before, purge_at)
SELECT ?, scope, delivery_id, event, received_at, NULL, 'done', '', ${NOW}, ${NOW}, NULL
FROM webhook_delivery WHERE key = ?
ON CONFLICT (key) DO UPDATE SET ${DONE('NULL')}`;

/** fence, key, key, effect */
const FIND = `SELECT
  (SELECT iif(fence = ?, state, 'lost') FROM webhook_delivery WHERE key = ?) AS delivery,
  (SELECT handlers FROM webhook_delivery WHERE key = ?) AS steps,
  (SELECT iif(${BUSY}, 'busy', state) FROM webhook_delivery WHERE key = ?) AS effect`;

/** Makes the transactions of a D1 store, whose purge runs with their records. */
export function d1Transactions(database: D1Client, purge: Purge): StoreTransactions<D1Batch> {
  return {
    check: refuseSkipOlder,
    refuseStep,
    run: (terms, work) => run(database, purge, terms, work),
  };
}

async function run(
  database: D1Client,
  purge: Purge,
  terms: TransactTerms,
  work: (tx: D1Batch) => unknown,
): Promise<Transacted> {
  const { key, fence, effect = '', signal } = terms;
  if (!(await terms.begin())) return { state: 'lost' };
  const bind = (sql: string, ...values: unknown[]) => database.prepare(sql).bind(...values);
  const record = recordOf(terms, bind);
  /** Returns how the transaction has ended; `undefined` if it has not run, and may. */
  const look = async (): Promise<Transacted | undefined> => {
    try {
      const { results } = await answered(bind(FIND, fence, key, key, effect).all());
      const state = stateOf(new Row(results[0]), terms);
      if (state !== 'known') return state && { state };
      // The effect was done for another delivery: only record this one.
      const [recorded] = await answered(purge.runWith(record));
      return { state: recorded?.results.length ? 'known' : 'lost' };
    } catch (cause) {
      return { state: 'unavailable', cause };
    }
  };

  const before = effect === '' ? undefined : await look();
  if (before) return before;
  // Nothing but the lease holds the delivery while the handler runs. A renewal after the batch would find no lease.
  await terms.begin(true);
  let added: readonly D1Statement[];
  try {
    added = await collect(work);
  } catch (error) {
    if (effect === '') throw error;
    // Another delivery may have done the effect meanwhile, and the handler may have failed because it has read so.
    await terms.begin();
    const after = await look();
    if (after?.state === 'known') return after;
    throw error;
  }
  await terms.begin();
  signal.throwIfAborted();
  try {
    await answered(
      purge.runWith(
        bind(GUARD, key, fence, effect),
        ...added,
        ...(effect === '' ? [] : [bind(COMPLETE_EFFECT, effect, key)]),
        record,
      ),
    );
    return { state: 'done' };
  } catch (error) {
    // The answer to a batch that was committed may be lost, and the guard does not say why it failed. A batch that
    // arrives after the time limit commits with its record, or its guard finds that the lease was released.
    const after = await look();
    if (after) return after;
    if (isPassing(error)) return { state: 'unavailable', cause: error };
    throw error;
  }
}

/** Ends a call that D1 does not answer. Otherwise, it would last until the time limit of the handlers, and be their fault. */
function answered<Value>(call: PromiseLike<Value>): Promise<Value> {
  return withTimeout(call, 'D1');
}

/** D1 cannot run anything for a moment, also because a query was too large, or the database is full. */
const PASSING =
  /is overloaded|connection lost|client disconnected|internal error|transient issue|code (?:was|has been) updated|to be reset|exceeded its (?:memory|cpu time) limit|exceeded maximum (?:db|account)|disconnected from primary|daily row|too many api requests/i;

/** SQLite refuses a statement. Names and triggers word such an error, and so might word it like {@link PASSING}. */
const REFUSED = /\bSQLITE_(?:CONSTRAINT|ERROR)\b/;

/**
 * Returns whether D1 itself has failed, and not a statement of the handler. Any other error counts as the handler's: an
 * unknown one must become a dead letter in the end, and not be retried forever.
 */
function isPassing(error: unknown): boolean {
  if (error instanceof WebhookError) return error.code === 'timed_out';
  return error instanceof Error && PASSING.test(error.message) && !REFUSED.test(error.message);
}

type Bind = (sql: string, ...values: unknown[]) => D1Statement;

function recordOf({ key, fence, record }: TransactTerms, bind: Bind): D1Statement {
  if ('step' in record)
    return bind(STATEMENTS.completeStep, JSON.stringify({ [record.step]: 'null' }), key, fence);
  return bind(STATEMENTS.complete, finite(record.keepMs), key, fence);
}

function stateOf(
  row: Row,
  { record }: TransactTerms,
): 'done' | 'lost' | 'known' | 'busy' | undefined {
  const delivery = row.maybeText('delivery');
  const isRecorded =
    'step' in record
      ? Object.hasOwn(JSON.parse(row.maybeText('steps') ?? '{}'), record.step)
      : delivery === 'done';
  if (isRecorded && delivery !== 'lost') return 'done';
  if (delivery !== 'leased') return 'lost';
  const effect = row.maybeText('effect');
  if (effect === 'done') return 'known';
  return effect === 'busy' ? 'busy' : undefined;
}

/** Runs the handler, and returns the statements that it has added. */
async function collect(work: (tx: D1Batch) => unknown): Promise<readonly D1Statement[]> {
  const added: D1Statement[] = [];
  let hasEnded = false;
  try {
    const add = (...statements: readonly D1Statement[]) => {
      if (hasEnded) throw tooLate();
      added.push(...statements);
    };
    await awaitAll(work({ add }));
  } finally {
    hasEnded = true;
  }
  return added;
}

function tooLate(): UsageError {
  return new UsageError(
    'transaction_missing',
    'A statement was added to a transaction after its handler had ended. Await everything in the handler.',
  );
}
