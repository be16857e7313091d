import { UsageError } from '../../errors/errors.js';

/**
 * Commits, and begins an empty transaction for postgres.js to end.
 *
 * The driver prepares its own COMMIT, and does not look at the answer. Behind a pooler such as PgBouncer, another
 * connection may not have that statement. The driver then repeats it in a transaction that has failed: PostgreSQL rolls
 * back, and the driver reports a success. This text is never prepared. Without the SELECT, the driver would keep only
 * the answer to BEGIN.
 */
export const COMMIT = 'COMMIT; SELECT 1; BEGIN';

/** Lets the statements of a transaction through until it is over. */
export class Gate {
  isOver = false;
  /** The savepoints that have failed. */
  readonly failures: { readonly part: { readonly isRead: boolean }; readonly error: unknown }[] =
    [];
  #running = 0;
  #failed: { readonly error: unknown } | undefined;

  /** Whether something runs of which the driver sends further statements by itself. */
  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** Counts what runs until it settles. */
  track<Running extends PromiseLike<unknown>>(running: Running): Running {
    this.#running += 1;
    const settled = () => {
      this.#running -= 1;
    };
    running.then(settled, settled);
    return running;
  }

  /** Notes a statement that has failed, perhaps before it was sent, so that PostgreSQL does not know. */
  fail(error: unknown): void {
    this.#failed ??= { error };
  }

  /** Returns why a statement must not run; `undefined` if it may. */
  refusal(text: () => string): UsageError | undefined {
    if (this.#failed && text().endsWith(COMMIT)) {
      return new UsageError(
        'transaction_missing',
        'A statement of the transaction has failed, so the transaction is rolled back. Await each statement, and let ' +
          'its error throw. To continue after a failed statement, use ON CONFLICT DO NOTHING, or run it in a ' +
          'SAVEPOINT: `tx.savepoint()`.',
        { cause: this.#failed.error },
      );
    }
    if (!this.isOver) return undefined;
    return new UsageError(
      'transaction_missing',
      'The transaction is over, because its connection was closed, or its work has ended or took too long. ' +
        'Await each statement.',
    );
  }
}

const ENDS =
  /(?:^|;)\s*(begin|start\s+transaction|commit|end|abort|rollback(?!\s+(?:work\s+|transaction\s+)?to\b)|prepare\s+transaction)\b/i;
/** Comments, texts and quoted names, in which `ENDS` would find words that end nothing. */
const QUOTED =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\be'(?:[^'\\]|\\[\s\S])*'|'[^']*'|"[^"]*"|\$([a-z_]\w*)?\$[\s\S]*?\$\1\$/gi;

/** The gate of the work in a transaction, which refuses also the statements that end the transaction. */
export class WorkGate extends Gate {
  override refusal(text: () => string): UsageError | undefined {
    const over = super.refusal(text);
    if (over) return over;
    const [, end] = ENDS.exec(text().replace(QUOTED, ' ')) ?? [];
    return end === undefined ? undefined : endsTransaction(end.toUpperCase());
  }
}

export function endsTransaction(what: string): UsageError {
  return new UsageError(
    'transaction_missing',
    `The transaction ends with its work, which cannot run ${what}. Throw an error to roll everything back, and ` +
      'use SAVEPOINT (with postgres.js: `tx.savepoint()`) for a part of it.',
  );
}
