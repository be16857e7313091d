import { UsageError } from '../../errors/errors.js';
import { hasMethods } from '../platform.js';
import type { SqliteDatabase } from './database.js';

/**
 * Checks that the argument is an open database.
 *
 * @param who - The function that needs the database, as the subject of a sentence.
 * @throws {UsageError} `client_invalid`, with the code that opens a database on this runtime.
 */
export function checkDatabase(database: SqliteDatabase, who: string): void {
  if (hasMethods(database, 'prepare', 'exec')) return;
  const given = typeof database === 'string' ? ', not a path' : '';
  throw new UsageError(
    'client_invalid',
    `${who} needs an open database${given}, such as ${opening()}.`,
  );
}

function opening(): string {
  if ('Bun' in globalThis) return 'new Database("webhooks.db") of bun:sqlite';
  return hasNodeSqlite()
    ? 'new DatabaseSync("webhooks.db") of node:sqlite'
    : 'new Database("webhooks.db") of better-sqlite3 (npm install better-sqlite3)';
}

/**
 * Returns whether `node:sqlite` exists, which Node 20 lacks. Avoids an import, because bundlers would follow it.
 */
function hasNodeSqlite(): boolean {
  try {
    return Boolean(globalThis.process?.getBuiltinModule?.('node:sqlite'));
  } catch {
    return false;
  }
}
