import { Gate } from './gate.js';
import { guardRun } from './guard-postgres-js.js';
import { CopyGate, endsSilence, stayAwake } from './stay-awake.js';

/** The `sql` of postgres.js. */
export interface PostgresJs<Tx> {
  begin(options: string, run: (tx: Tx) => Promise<unknown>): Promise<unknown>;
}

/**
 * Runs a transaction of postgres.js so that it survives the loss of its connection.
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
  const noting = async (tx: Tx) => {
    const stop = awake && stayAwake(tx, awake);
    try {
      await run(tx);
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
    // If the ROLLBACK failed too, postgres.js throws that error instead of the first.
    throw first ? first.error : error;
  } finally {
    life.isOver = true;
  }
}
