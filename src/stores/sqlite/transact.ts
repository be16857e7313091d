import { UsageError } from '../../errors/errors.js';
import type { Transacted, TransactTerms } from '../store.js';
import { endedByHandler, refuseSkipOlder, type TransactionHandler } from '../transactions.js';
import { connectionOf } from './connection.js';
import { prepare, type SqliteDatabase, type SqliteStatement } from './database.js';
import { isOutside, isPromise } from './ledger.js';
import { Row } from './rows.js';
import { DONE, NOW, STATEMENTS } from './statements.js';

const SQL = {
  /** key, fence */
  held: `SELECT 1 FROM webhook_delivery WHERE key = ? AND fence = ? AND state = 'leased'`,
  /** effect, key */
  insertEffect: `INSERT INTO webhook_delivery
    (key, scope, delivery_id, event, received_at, body, state, owner, fence, not_before, purge_at)
  SELECT ?, scope, delivery_id, event, received_at, NULL, 'leased', '', ${NOW}, ${NOW}, NULL
  FROM webhook_delivery WHERE key = ? ON CONFLICT DO NOTHING`,
  /** effect */
  findEffect: `SELECT state, not_before <= ${NOW} AS due FROM webhook_delivery WHERE key = ?`,
  /** effect */
  completeEffect: `UPDATE webhook_delivery SET ${DONE('NULL')} WHERE key = ? RETURNING 1`,
  /** keep ms, key, fence */
  complete: STATEMENTS.complete,
  /** { name: output as JSON } as JSON, key, fence */
  completeStep: STATEMENTS.completeStep,
} as const;

type Prepared = Readonly<Record<keyof typeof SQL, SqliteStatement>>;

const prepared = new WeakMap<SqliteDatabase, Prepared>();

function preparedFor(database: SqliteDatabase): Prepared {
  const known = prepared.get(database);
  if (known) return known;
  const entries = Object.entries(SQL).map(([name, sql]) => [name, prepare(database, sql)]);
  // The type of Object.fromEntries loses the names.
  const made = Object.fromEntries(entries) as Prepared;
  prepared.set(database, made);
  return made;
}

/** Runs a handler in the transaction that records it. The handler must not await anything. */
export async function runInTransaction<Database extends SqliteDatabase>(
  database: Database,
  { key, fence, effect, record, signal, begin }: TransactTerms,
  work: (tx: Database) => unknown,
): Promise<Transacted> {
  if (!(await begin())) return { state: 'lost' };
  return connectionOf(database).transact<Transacted>(() => {
    signal.throwIfAborted();
    const statements = preparedFor(database);
    if (statements.held.all(key, fence).length === 0) return { state: 'lost' };
    let isKnown = false;
    if (effect !== undefined) {
      statements.insertEffect.all(effect, key);
      const found = new Row(statements.findEffect.get(effect));
      isKnown = found.text('state') === 'done';
      // The effect of an attempt that failed or crashed is due; any other is being done.
      if (!isKnown && found.text('state') === 'leased' && found.number('due') === 0)
        return { state: 'busy' };
    }
    if (!isKnown) {
      const result = work(database);
      if (isPromise(result)) {
        result.then(undefined, () => {});
        throw awaiting();
      }
      if (isOutside(database)) throw endedByHandler();
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

function finite(keepMs: number): number | null {
  return keepMs === Number.POSITIVE_INFINITY ? null : keepMs;
}

/** @throws {UsageError} `handler_invalid` */
export function checkHandler(registered: TransactionHandler): void {
  refuseSkipOlder(registered);
  if (`${registered.handler}`.startsWith('async')) throw awaiting();
}

function awaiting(): UsageError {
  return new UsageError(
    'handler_invalid',
    'A handler with the option transaction on SQLite has to be a function that returns no promise. Use no await in ' +
      'it, because all other writes wait for it. Await in another handler instead.',
  );
}
