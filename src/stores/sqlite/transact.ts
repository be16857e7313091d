import { UsageError } from '../../errors/errors.js';
import type { StoreTransactions, Transacted, TransactTerms } from '../store.js';
import {
  endedByHandler,
  refuseSkipOlder,
  refuseStep,
  returnsPromise,
  type TransactionHandler,
} from '../transactions.js';
import type { SqliteStatement } from './database.js';
import { refuseNested } from './nested.js';
import { Row } from './rows.js';
import { finite } from './statement-store.js';
import { DONE, NOW, STATEMENTS } from './statements.js';

// Each returns rows: better-sqlite3 runs no other statement with `all`.
const SQL = {
  /** key, fence */
  held: `SELECT 1 FROM webhook_delivery WHERE key = ? AND fence = ? AND state = 'leased'`,
  /** effect, key */
  insertEffect: `INSERT INTO webhook_delivery
    (key, scope, delivery_id, event, received_at, body, state, owner, fence, not_before, purge_at)
  SELECT ?, scope, delivery_id, event, received_at, NULL, 'leased', '', ${NOW}, ${NOW}, NULL
  FROM webhook_delivery WHERE key = ? ON CONFLICT DO NOTHING RETURNING 1`,
  /** effect */
  findEffect: `SELECT state, not_before <= ${NOW} AS due FROM webhook_delivery WHERE key = ?`,
  /** effect */
  completeEffect: `UPDATE webhook_delivery SET ${DONE('NULL')} WHERE key = ? RETURNING 1`,
  /** keep ms, key, fence */
  complete: STATEMENTS.complete,
  /** { name: output as JSON } as JSON, key, fence */
  completeStep: STATEMENTS.completeStep,
} as const;

type Statement = Pick<SqliteStatement, 'all'>;
export type Statements = Readonly<Record<keyof typeof SQL, Statement>>;

/** Prepares the statements of a transaction. */
export function prepareAll(prepare: (sql: string) => Statement): Statements {
  const entries = Object.entries(SQL).map(([name, sql]) => [name, prepare(sql)]);
  // The type of Object.fromEntries loses the names.
  return Object.fromEntries(entries) as Statements;
}

/** A SQLite whose transactions begin and end within one turn of the event loop. */
export interface Transactor<Tx> {
  /** The driver's own object, for the handler. */
  readonly tx: Tx;
  /** Called within the transaction. */
  statements(): Statements;
  transact<Result>(work: () => Result): Promise<Result>;
  /**
   * Runs the handler.
   *
   * @throws {UsageError} `transaction_missing` if it has ended the transaction. Otherwise its own error.
   */
  hold(work: () => void): void;
}

/** The transactions of a store on a SQLite. Its handlers must not await anything. */
export function transactionsOn<Tx>(on: Transactor<Tx>): StoreTransactions<Tx> {
  return {
    check: checkHandler,
    refuseStep,
    run: (terms, work) => runInTransaction(on, terms, work),
  };
}

/** Runs a handler in the transaction that records it. */
async function runInTransaction<Tx>(
  on: Transactor<Tx>,
  { key, fence, effect, record, signal, begin }: TransactTerms,
  work: (tx: Tx) => unknown,
): Promise<Transacted> {
  if (!(await begin())) return { state: 'lost' };
  return on.transact<Transacted>(() => {
    signal.throwIfAborted();
    const statements = on.statements();
    if (statements.held.all(key, fence).length === 0) return { state: 'lost' };
    let isKnown = false;
    if (effect !== undefined) {
      statements.insertEffect.all(effect, key);
      const found = new Row(statements.findEffect.all(effect)[0]);
      isKnown = found.text('state') === 'done';
      // The effect of an attempt that failed or crashed is due; any other is being done.
      if (!isKnown && found.text('state') === 'leased' && found.number('due') === 0)
        return { state: 'busy' };
    }
    if (!isKnown) {
      on.hold(() => {
        const result = refuseNested('handler_invalid', () => work(on.tx));
        if (returnsPromise(result)) throw awaiting();
      });
      if (effect !== undefined) statements.completeEffect.all(effect);
    }
    const written =
      'step' in record
        ? statements.completeStep.all(JSON.stringify({ [record.step]: 'null' }), key, fence)
        : statements.complete.all(finite(record.keepMs), key, fence);
    if (written.length === 0) throw endedByHandler();
    return { state: isKnown ? 'known' : 'done' };
  });
}

/** @throws {UsageError} `handler_invalid` */
function checkHandler(registered: TransactionHandler): void {
  refuseSkipOlder(registered);
  // Not by its text: the name of a method or a parameter may begin with "async", and a bound function has no text.
  if (/Async/.test(Object.prototype.toString.call(registered.handler))) throw awaiting();
}

function awaiting(): UsageError {
  return new UsageError(
    'handler_invalid',
    'A handler with the option transaction on SQLite has to be a function that returns no promise. Use no await in ' +
      'it, because all other writes wait for it. Writes after its first await are not rolled back, and each retry ' +
      'repeats them. Await in another handler instead.',
  );
}
