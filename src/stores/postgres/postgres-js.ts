import { UsageError } from '../../errors/errors.js';
import { soon } from '../../runtime/turn.js';
import { hasMethods } from '../platform.js';
import { optionOf } from '../size-limits.js';

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
    const stop = hasLimit(sql) && isPinged(tx) ? pingWhile(() => !life.hasCopied, tx) : ignore;
    try {
      await run(tx);
    } catch (error) {
      first = { error };
      throw error;
    } finally {
      stop();
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
  /** Whether the work has begun a COPY, which no other statement may interrupt. */
  hasCopied = false;

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
        this.#note(args[0]);
        return Reflect.apply(target, self, args);
      },
      get: (target, name) => {
        this.#check();
        const value: unknown = Reflect.get(target, name);
        if (!/^(?:savepoint|unsafe)$/.test(String(name)) || typeof value !== 'function')
          return value;
        return (...args: unknown[]) => {
          this.#note(args[0]);
          const guarded = args.map((arg) => (isRun(arg) ? this.guard(arg) : arg));
          return Reflect.apply(value, target, guarded);
        };
      },
    });
  }

  #note(text: unknown): void {
    this.hasCopied ||= /^\s*copy\b/i.test(String(text));
  }

  #check(): void {
    if (!this.isOver && !this.hasEnded) return;
    throw new UsageError(
      'transaction_missing',
      'The transaction is over, because its connection was closed or its work has ended. Await each statement.',
    );
  }
}

/** Half of the time for which docs/stores.md lets a connection be silent. */
const PING_MS = 2_000;
/** In 15 minutes. After that, the limit ends the transaction of work that never ends, and so frees its locks. */
const MAX_PINGS = 450;

interface Pinged {
  unsafe(text: string): PromiseLike<unknown>;
}

function isPinged(tx: unknown): tx is Pinged {
  return hasMethods(tx, 'unsafe');
}

/** Returns whether the connections end by themselves when they are silent: `socket` is the only way to have that. */
function hasLimit(sql: unknown): boolean {
  return typeof optionOf(sql, 'options', 'socket') === 'function';
}

/**
 * Keeps a connection from falling silent while the work waits for something else, such as another service. Returns a
 * function that stops it. The statement is empty, so that it also succeeds in a transaction or savepoint that has
 * failed. The next one waits for its answer: each write would extend the life of a connection that is dead.
 */
function pingWhile(isAllowed: () => boolean, tx: Pinged): () => void {
  let isAnswered = true;
  let pings = 0;
  const timer = setInterval(async () => {
    if (!isAnswered || !isAllowed() || ++pings > MAX_PINGS) return;
    isAnswered = false;
    try {
      await tx.unsafe('');
      isAnswered = true;
    } catch {}
  }, PING_MS);
  timer.unref?.();
  return () => clearInterval(timer);
}

function ignore(): void {}

function isRun(value: unknown): value is (tx: unknown) => unknown {
  return typeof value === 'function';
}
