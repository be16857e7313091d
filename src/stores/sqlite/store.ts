import { withContract } from '../contract.js';
import type { IdempotencyStore } from '../store.js';
import { checkDatabase } from './check-database.js';
import { checkLibsql } from './check-libsql.js';
import { connectionOf } from './connection.js';
import { prepare, type SqliteDatabase } from './database.js';
import { baseName, fileOf } from './file.js';
import { holdOpen } from './hold-open.js';
import { StatementStore } from './statement-store.js';
import { STATEMENTS } from './statements.js';
import { prepareAll, type Statements, type Transactor, transactionsOn } from './transact.js';

/**
 * Remembers deliveries in a SQLite file: durable, for all processes of one machine. Pass an open connection of
 * `node:sqlite`, `better-sqlite3` or `bun:sqlite`. The store creates its tables (see {@link sqliteSchema}), and
 * sets the connection to `journal_mode=WAL`, `synchronous=FULL`, and a `busy_timeout` of 1 s if it has none.
 *
 * SQLite has one writer at a time. So your own write transactions in the same process, on any connection, must not
 * await anything between `BEGIN` and `COMMIT`: all other writes wait for them.
 *
 * @throws {UsageError} `client_invalid` if the argument is not an open database, or `version_unsupported` before
 *   libsql 0.4.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite';
 *
 * const database = new DatabaseSync('webhooks.db');
 * createReceiver({ secret, store: sqliteStore(database) });
 */
export function sqliteStore<Database extends SqliteDatabase>(
  database: Database,
): IdempotencyStore<Database> {
  checkDatabase(database, 'sqliteStore');
  checkLibsql(database);
  const connection = connectionOf(database);
  const file = fileOf(database);
  // A database in memory is lost when the process ends.
  const kind =
    file === ''
      ? { durable: false, description: 'SQLite in memory' }
      : { durable: true, description: `SQLite (${baseName(file)})` };
  const store = withContract<Database>(
    new StatementStore(kind, (name, values, { isSoon } = {}) => {
      const isReading = STATEMENTS[name].startsWith('SELECT');
      return connection.run((statements) => statements[name].all(...values), isSoon, isReading);
    }),
  );
  let statements: Statements | undefined;
  const transactor: Transactor<Database> = {
    tx: database,
    statements: () => (statements ??= prepareAll((sql) => prepare(database, sql))),
    transact: (work) => connection.transact(work),
    hold: (work) => holdOpen(database, work),
  };
  return { ...store, transactions: transactionsOn(transactor) };
}
