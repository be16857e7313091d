import { UsageError } from '../../errors.js';
import { hasMethods } from '../methods.js';
import type { SqliteDatabase } from './database.js';

/**
 * @param who - Needs it, as the subject of a sentence.
 * @throws {UsageError} `client_invalid`, with what opens a database on the runtime that this is.
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

/** Node 20 lacks it. It is asked for without an import, which bundlers would follow. */
function hasNodeSqlite(): boolean {
  try {
    return Boolean(globalThis.process?.getBuiltinModule?.('node:sqlite'));
  } catch {
    return false;
  }
}
