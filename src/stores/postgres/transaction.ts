import { UsageError } from '../../errors.js';
import { withTimeout } from '../../timing.js';
import { hasMethods } from '../methods.js';
import { SILENCE_MS } from '../silence.js';
import type { Value } from './client.js';
import { type PostgresJs, throughPostgresJs } from './postgres-js.js';

/** A client that a pool of `pg` has lent. */
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

/** What begins a transaction, which is a `Tx`. */
export type TransactionSource<Tx> = PgPool<Tx> | PostgresJs<Tx> | Pglite<Tx>;

/** Runs something in a transaction, and commits what it has done; where it rejects, all is undone. */
export type Begin<Tx> = (run: (tx: Tx) => Promise<void>) => Promise<void>;

/**
 * Brings what begins a transaction in several drivers to one shape.
 *
 * @throws {UsageError} `client_invalid`
 */
export function toBegin<Tx>(source: TransactionSource<Tx>): Begin<Tx> {
  if (hasMethods(source, 'connect') && 'totalCount' in source)
    return (run) => throughPool(source, run);
  if (hasMethods(source, 'begin')) return (run) => throughPostgresJs(source, run);
  if (hasMethods(source, 'transaction') && 'waitReady' in source) {
    return async (run) => {
      await source.transaction(run);
    };
  }
  throw new UsageError(
    'client_invalid',
    'ledger.transaction begins the transaction itself: pass the Pool of pg, the `sql` of postgres.js or ' +
      'the PGlite. On a Client, or in a transaction that has begun, call ledger.once(tx, event).',
  );
}

function throughPool<Tx>(pool: PgPool<Tx>, run: (tx: Tx) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    // With a callback: a promise goes on a moment later, in which nobody listens to a connection that breaks.
    pool.connect((error, tx, release) => {
      if (tx) resolve(transact(tx, release, run));
      else reject(error);
    });
  });
}

/** Longer than it takes a connection that works; on one that is silent, it would take for ever. */
const ROLLBACK_MS = 1_000;

async function transact<Tx extends PgPoolClient>(
  tx: Tx,
  release: (destroy?: boolean) => void,
  run: (tx: Tx) => Promise<void>,
): Promise<void> {
  // Nobody else listens while it is lent, and an error that nobody hears ends the process. What is asked of
  // the connection rejects as well.
  tx.on('error', ignore);
  try {
    // Where it waits, the connection has gone silent: nobody holds a lock that it needs.
    await tx.query({ text: 'BEGIN', query_timeout: SILENCE_MS });
    await run(tx);
    await tx.query('COMMIT');
  } catch (error) {
    // Undone by the end of the connection, too; but then perhaps only after the next attempt has begun.
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

function ignore(): void {}
