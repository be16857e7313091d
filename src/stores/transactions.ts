import { UsageError } from '../errors/errors.js';
import { hasMethods } from './platform.js';

/** A handler with the option `transaction`, as it is registered. */
export interface TransactionHandler {
  readonly handler: unknown;
  readonly name: string | undefined;
  readonly skipOlder: boolean | undefined;
}

/** @throws {UsageError} `handler_invalid` */
export function refuseSkipOlder({ skipOlder }: TransactionHandler): void {
  if (!skipOlder) return;
  throw new UsageError(
    'handler_invalid',
    'transaction cannot be combined with skipOlder. Remove one of them: a statement such as UPDATE … WHERE ' +
      'updated_at < $1 skips older states within the transaction.',
  );
}

/** @throws {UsageError} `handler_invalid` */
export function refuseStep(): never {
  throw new UsageError(
    'handler_invalid',
    'A handler with the option transaction cannot use once(): a rollback forgets the step, but not what the ' +
      'step did elsewhere. Write to the database with tx, and do the rest in a handler without the option.',
  );
}

/** The error for a handler, or the work of a ledger on SQLite, that has ended its transaction. */
export function endedByHandler(): UsageError {
  return new UsageError(
    'transaction_missing',
    'A handler with the option transaction, or the work of ledger.transaction, must not end the transaction, but ' +
      'has ended it. Leave COMMIT and ROLLBACK out, and throw an error to roll everything back.',
  );
}

/**
 * Awaits what a handler or work returns, also each promise in an array, and in the arrays that these resolve to.
 * postgres.js sends a query only when awaited.
 */
export async function awaitAll(returned: unknown): Promise<void> {
  let all = [returned];
  // Not without end: an array may contain itself.
  for (let depth = 0; depth < 5; depth++) all = (await Promise.all(all)).flat();
}

/**
 * Returns whether work that must not await anything has returned a promise, or an array with one. Such a promise may
 * reject without ending the process.
 */
export function returnsPromise(result: unknown): boolean {
  const found = [result].flat(5).filter((one) => hasMethods(one, 'then'));
  // Not of a lazy query: that would run it after the transaction.
  for (const one of found) if (one instanceof Promise) one.catch(() => {});
  return found.length > 0;
}
