import { optionOf } from '../size-limits.js';
import { Gate } from './gate.js';
import { guardRun } from './guard-postgres-js.js';
import { CopyGate, endsSilence, runsTexts, stayAwake } from './stay-awake.js';

/** The `sql` of postgres.js. */
export interface PostgresJs<Tx> {
  begin(options: string, run: (tx: Tx) => Promise<unknown>): Promise<unknown>;
}

/** Returns whether PostgreSQL has committed: the results are those of statements that end with {@link COMMIT}. */
export function hasCommitted(results: unknown): boolean {
  return Array.isArray(results) && optionOf(results.at(-2), 'command') === 'COMMIT';
}

/**
 * Runs a transaction of postgres.js so that it survives the loss of its connection. The function has to commit,
 * with {@link COMMIT}.
 *
 * If the connection ends, postgres.js rejects `begin`, but still accepts statements of that transaction, even its
 * own ROLLBACK. It writes them to a closed socket, which ends the process, or to a new one, outside of the
 * transaction. So this function lets no statement through once the transaction is over.
 */
export async function throughPostgresJs<Tx>(
  sql: PostgresJs<Tx>,
  run: (tx: Tx) => Promise<void>,
): Promise<void> {
  const awake = endsSilence(sql) ? new CopyGate() : undefined;
  const life = awake ?? new Gate();
  let first: { readonly error: unknown } | undefined;
  let isCommitted = false;
  const noting = async (tx: Tx) => {
    const stop = awake && stayAwake(tx, awake);
    try {
      await run(tx);
      // Without texts, the driver itself commits.
      isCommitted = runsTexts(tx);
    } catch (error) {
      first = { error };
      throw error;
    } finally {
      stop?.();
    }
  };
  try {
    await sql.begin('', guardRun(noting, life));
  } catch (error) {
    // Only the empty transaction has failed.
    if (isCommitted) return;
    // If the ROLLBACK failed too, postgres.js throws that error instead of the first.
    throw first ? first.error : error;
  } finally {
    life.isOver = true;
  }
}
