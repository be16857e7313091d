import { UsageError } from '../../errors.js';

/** The `sql` of postgres.js. */
export interface PostgresJs<Tx> {
  begin(options: string, run: (tx: Tx) => Promise<unknown>): Promise<unknown>;
}

/**
 * A transaction of postgres.js that survives the end of its connection.
 *
 * postgres.js rejects `begin` then, and takes further statements of that transaction all the same. It writes
 * them to a socket that is gone, by which the process ends, or to one that it has opened since, outside of
 * the transaction. Its own ROLLBACK is one of them. So nothing gets to it once the transaction is over.
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
    }
  };
  try {
    await sql.begin('', life.guard(noting));
  } catch (error) {
    // Where the ROLLBACK has failed as well, it tells of that.
    throw first ? first.error : error;
  } finally {
    life.isOver = true;
  }
}

/** What has the same clients for a transaction and for a savepoint within it. */
class Life {
  isOver = false;

  guard<Tx, Result>(run: (tx: Tx) => Result | Promise<Result>): (tx: Tx) => Promise<unknown> {
    return async (tx) => {
      try {
        const result = run(this.#guarded(tx));
        // postgres.js waits for the statements in it.
        return await (Array.isArray(result) ? Promise.all(result) : result);
      } catch (error) {
        // Statements fail a moment before `begin` does. What never ends is rolled back by nobody.
        await new Promise((resolve) => setTimeout(resolve, 0));
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
    if (!this.isOver) return;
    throw new UsageError(
      'transaction_missing',
      'The transaction is over: its connection was closed, or its work has ended. Await each statement.',
    );
  }
}

function isRun(value: unknown): value is (tx: unknown) => unknown {
  return typeof value === 'function';
}
