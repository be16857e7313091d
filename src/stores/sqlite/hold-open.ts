import { endedByHandler } from '../transactions.js';
import type { SqliteDatabase } from './database.js';

/**
 * Runs work in a savepoint of the open transaction. The savepoint is gone if the work, a trigger or a conflict clause
 * has ended the transaction, also if the work has begun another one. Not every driver shows the former, and none the
 * latter.
 *
 * @throws {UsageError} `transaction_missing` if the transaction has ended. Otherwise the work's own error.
 */
export function holdOpen(database: SqliteDatabase, work: () => void): void {
  database.exec('SAVEPOINT webhook_work');
  work();
  try {
    database.exec('RELEASE webhook_work');
  } catch (error) {
    throw error instanceof Error && /no such savepoint/.test(error.message)
      ? endedByHandler()
      : error;
  }
}
