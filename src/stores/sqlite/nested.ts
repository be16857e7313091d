import { UsageError } from '../../errors/errors.js';

/**
 * Runs a user's work in a transaction. SQLite has no transaction within another one, and libsql's `transaction()`
 * begins one.
 *
 * @throws {UsageError} With the given code, if the work begins a transaction. Otherwise the work's own error.
 */
export function refuseNested<Result>(
  code: 'handler_invalid' | 'work_invalid',
  work: () => Result,
): Result {
  try {
    return work();
  } catch (error) {
    if (!isNested(error)) throw error;
    throw new UsageError(
      code,
      'A handler with the option transaction on SQLite, and the work of ledger.transaction, already run in a ' +
        'transaction and cannot begin another one. Leave out BEGIN and transaction() of the driver. To undo a part, ' +
        'use SAVEPOINT and ROLLBACK TO.',
      { cause: error },
    );
  }
}

function isNested(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.message.includes('cannot start a transaction within a transaction')
  );
}
