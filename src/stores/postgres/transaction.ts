import { UsageError } from '../../errors/errors.js';
import { withTimeout } from '../../runtime/timing.js';
import { SILENCE_MS } from '../guard.js';
import { hasMethods } from '../platform.js';
import { optionOf } from '../size-limits.js';
import type { Value } from './client.js';
import { COMMIT } from './gate.js';
import { hasCommitted, type PostgresJs, throughPostgresJs } from './postgres-js.js';
import { ignore } from './session.js';
import { runsTexts } from './stay-awake.js';

/** A client from a pool of `pg`. */
export interface PgPoolClient {
  query(
    query: string | { text: string; query_timeout: number },
    values?: Value[],
  ): Promise<{ readonly rows: unknown[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A `Pool` of `pg`. */
export interface PgPool<Tx> {
  readonly totalCount: number;
  connect(
    callback: (
      error: Error | undefined,
      client: (Tx & PgPoolClient) | undefined,
      release: (destroy?: boolean) => void,
    ) => void,
  ): unknown;
}

/** A `PGlite`. */
export interface Pglite<Tx> {
  readonly waitReady: Promise<void>;
  transaction(run: (tx: Tx) => Promise<void>): Promise<unknown>;
}

/** A client that begins transactions; `Tx` is the client inside a transaction. */
export type TransactionSource<Tx> = PgPool<Tx> | PostgresJs<Tx> | Pglite<Tx>;

/** Runs a function in a transaction, and commits it. If the function rejects, rolls everything back. */
export type Begin<Tx> = (run: (tx: Tx) => Promise<void>) => Promise<void>;

/**
 * Returns a function that begins a transaction with any supported driver.
 *
 * @throws {UsageError} `client_invalid`
 */
export function toBegin<Tx>(source: TransactionSource<Tx>): Begin<Tx> {
  if (hasMethods(source, 'connect') && 'totalCount' in source)
    return (run) => throughPool(source, run);
  if (hasMethods(source, 'begin')) {
    return (run) =>
      throughPostgresJs(source, async (tx) => {
        await run(tx);
        if (runsTexts(tx) && !hasCommitted(await tx.unsafe(COMMIT))) throw rolledBack();
      });
  }
  if (hasMethods(source, 'transaction') && 'waitReady' in source) {
    return async (run) => {
      await source.transaction(run);
    };
  }
  throw new UsageError(
    'client_invalid',
    'ledger.transaction begins the transaction itself: pass the Pool of pg, the `sql` of postgres.js or ' +
      'the PGlite. With a Client, or inside a transaction, call ledger.once(tx, event).',
  );
}

function throughPool<Tx>(pool: PgPool<Tx>, run: (tx: Tx) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    // A callback, because a promise would continue a moment later, and an error of the connection in between would
    // have no listener.
    pool.connect((error, tx, release) => {
      if (tx) resolve(transact(tx, release, run));
      else reject(error);
    });
  });
}

/** Longer than a working connection needs. On a silent connection, ROLLBACK would never end. */
const ROLLBACK_MS = 1_000;

async function transact<Tx extends PgPoolClient>(
  tx: Tx,
  release: (destroy?: boolean) => void,
  run: (tx: Tx) => Promise<void>,
): Promise<void> {
  // The pool does not listen to a client that it has lent, and an error without a listener ends the process. The
  // queries on the connection also reject.
  tx.on('error', ignore);
  try {
    // BEGIN needs no lock, so if it waits, the connection has fallen silent.
    await tx.query({ text: 'BEGIN', query_timeout: SILENCE_MS });
    await run(tx);
    if (optionOf(await tx.query('COMMIT'), 'command') === 'ROLLBACK') throw rolledBack();
  } catch (error) {
    // The end of the connection also rolls back, but perhaps only after the next attempt has begun.
    await withTimeout(tx.query('ROLLBACK'), 'PostgreSQL', ROLLBACK_MS).catch(ignore);
    tx.removeListener('error', ignore);
    try {
      release(true);
    } catch {}
    throw error;
  }
  tx.removeListener('error', ignore);
  release();
}

/** The error for work in which a statement has failed without an error that throws. */
export function rolledBack(): UsageError {
  return new UsageError(
    'transaction_missing',
    'PostgreSQL has rolled the transaction back at COMMIT, because a statement had failed. Await each statement, ' +
      'and let its error throw. To continue after a failed statement, use ON CONFLICT DO NOTHING, or ' +
      'SAVEPOINT before it and ROLLBACK TO after it (with postgres.js: `tx.savepoint()`).',
  );
}
