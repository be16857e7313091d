import { UsageError } from '../errors/errors.js';
import type { IdempotencyStore } from '../stores/store.js';
import type { TransactionHandler } from '../stores/transactions.js';

/** @throws {UsageError} `handler_invalid` */
export function checkTransaction(
  transaction: unknown,
  registered: TransactionHandler,
  {
    transactions,
    description = 'your own',
  }: Pick<IdempotencyStore, 'transactions' | 'description'>,
): void {
  if (transaction === false) return;
  if (transaction === true && transactions) {
    transactions.check(registered);
    return;
  }
  throw new UsageError(
    'handler_invalid',
    'transaction is true or false, and true needs a store whose database has transactions: pass postgresStore(pool) ' +
      `or sqliteStore(database) as \`store\`. The store is ${description}.`,
  );
}

/** @throws {UsageError} `handler_invalid` */
export function checkSkipOlder(
  skipOlder: unknown,
  {
    name,
    oncePer,
    patterns,
  }: { name: string | undefined; oncePer: unknown; patterns: readonly string[] },
): void {
  if (typeof skipOlder !== 'boolean') {
    throw new UsageError('handler_invalid', 'skipOlder has to be true or false.');
  }
  if (skipOlder && oncePer) {
    throw new UsageError(
      'handler_invalid',
      'skipOlder cannot be combined with oncePer, which does not run again for a newer state. Remove one of them.',
    );
  }
  if (skipOlder && name === undefined && patterns.length > 1) {
    throw new UsageError(
      'handler_invalid',
      'skipOlder with several patterns needs a name, under which the store remembers the newest state: ' +
        ".on(…, handler, { name: 'mirror', skipOlder: true }).",
    );
  }
}
