import { UsageError } from '../../errors/errors.js';
import { soon } from '../../runtime/turn.js';

/** The `sql` of postgres.js. */
export interface PostgresJs<Tx> {
  begin(options: string, run: (tx: Tx) => Promise<unknown>): Promise<unknown>;
}

/**
 * Runs a transaction of postgres.js so that it survives the loss of its connection.
 *
 * If the connection ends, postgres.js rejects `begin`, but still accepts statements of that transaction, even its
 * own ROLLBACK. It writes them to a closed socket, which ends the process, or to a new one, outside of the
 * transaction. So this function lets no statement through once the transaction is over. It lets none of the work through
 * either once the work has ended: postgres.js would send it behind its COMMIT or ROLLBACK.
 */
export async function throughPostgresJs<Tx>(
  sql: PostgresJs<Tx>,
  run: (tx: Tx) => Promise<void>,
): Promise<void> {
  const life = new Life();
  let first: { readonly error: unknown } | undefined;
  const noting = async (tx: Tx) => {
    try {
      await run(tx);
    } catch (error) {
      first = { error };
      throw error;
    } finally {
      life.hasEnded = true;
    }
  };
  try {
    await sql.begin('', life.guard(noting));
  } catch (error) {
    // If the ROLLBACK failed too, postgres.js throws that error instead of the first.
    throw first ? first.error : error;
  } finally {
    life.isOver = true;
  }
}

/** The life of a transaction. Guards the clients of the transaction and of its savepoints. */
class Life {
  /** Whether the driver has ended the transaction, or its connection. */
  isOver = false;
  /** Whether the work has ended. */
  hasEnded = false;

  guard<Tx, Result>(run: (tx: Tx) => Result | Promise<Result>): (tx: Tx) => Promise<unknown> {
    return async (tx) => {
      try {
        const result = run(this.#guarded(tx));
        // postgres.js also awaits the statements in an array.
        return await (Array.isArray(result) ? Promise.all(result) : result);
      } catch (error) {
        // Statements fail a moment before `begin` does. If the transaction is over by then, never settle:
        // postgres.js would run a ROLLBACK otherwise.
        await new Promise<void>((resolve) => soon(resolve));
        if (this.isOver) await new Promise(() => {});
        throw error;
      }
    };
  }

  #guarded<Tx>(tx: Tx): Tx {
    if (typeof tx !== 'function') return tx;
    return new Proxy(tx, {
      apply: (target, self, args) => {
        this.#check();
        return Reflect.apply(target, self, args);
      },
      get: (target, name) => {
        this.#check();
        const value: unknown = Reflect.get(target, name);
        if (name !== 'savepoint' || typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          Reflect.apply(
            value,
            target,
            args.map((arg) => (isRun(arg) ? this.guard(arg) : arg)),
          );
      },
    });
  }

  #check(): void {
    if (!this.isOver && !this.hasEnded) return;
    throw new UsageError(
      'transaction_missing',
      'The transaction is over, because its connection was closed or its work has ended. Await each statement.',
    );
  }
}

function isRun(value: unknown): value is (tx: unknown) => unknown {
  return typeof value === 'function';
}
