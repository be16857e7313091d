import { withContract } from '../contract.js';
import type { IdempotencyStore } from '../store.js';
import { connectionOf } from './connection.js';
import type { SqliteDatabase } from './database.js';
import { checkDatabase } from './opening.js';
import { Row } from './rows.js';
import { StatementStore } from './statement-store.js';

/**
 * Remembers deliveries in a SQLite file: durable, for all the processes of one machine. Give it the
 * connection that you have open, of `node:sqlite`, `better-sqlite3` or `bun:sqlite`. It makes its tables
 * (see {@link sqliteSchema}), and sets the connection to `journal_mode=WAL`, `synchronous=FULL`, and a
 * `busy_timeout` of 1 s where there is none.
 *
 * SQLite has one writer at a time. So write transactions of yours in the same process, on whatever
 * connection, must not await anything between `BEGIN` and `COMMIT`: all other writes wait for them.
 *
 * @throws {UsageError} `client_invalid` where it is given something else.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite';
 *
 * const database = new DatabaseSync('webhooks.db');
 * createReceiver({ secret, store: sqliteStore(database) });
 */
export function sqliteStore(database: SqliteDatabase): IdempotencyStore {
  checkDatabase(database, 'sqliteStore');
  const connection = connectionOf(database);
  const file = fileOf(database);
  // What is in memory is gone with the process.
  const kind =
    file === ''
      ? { durable: false, description: 'SQLite in memory' }
      : { durable: true, description: `SQLite (${baseName(file)})` };
  return withContract(
    new StatementStore(kind, (name, values) =>
      connection.run((statements) => statements[name].all(...values)),
    ),
  );
}

/** Its path, or nothing where it is in memory. */
function fileOf(database: SqliteDatabase): string {
  const main = database.prepare(`SELECT file FROM pragma_database_list WHERE name = 'main'`).get();
  return new Row(main).maybeText('file') ?? 'unnamed';
}

/** Without its folders, which are nobody's business. */
function baseName(file: string): string {
  return file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
}
