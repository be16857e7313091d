import { tooOld } from '../../errors/too-old.js';
import type { SqliteDatabase } from './database.js';

/**
 * Checks that `exec()` takes a statement that returns rows, such as a pragma. In libsql before 0.4 it throws, so each
 * delivery would be answered 503.
 *
 * @throws {UsageError} `version_unsupported`
 */
export function checkLibsql(database: SqliteDatabase): void {
  try {
    database.exec('SELECT 1');
  } catch (error) {
    // Other errors of the database are reported with the delivery that they concern.
    if (!(error instanceof Error && error.message === 'Execute returned rows')) return;
    throw tooOld('sqliteStore()', 'libsql 0.4', 'an earlier version', 'libsql@latest');
  }
}
