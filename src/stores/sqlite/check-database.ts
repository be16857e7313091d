import { UsageError } from '../../errors/errors.js';
import { describeError } from '../../errors/text.js';
import { hasMethods } from '../platform.js';
import { optionOf } from '../size-limits.js';
import { type Instead, refuseWrapper } from '../wrappers.js';
import { prepare, type SqliteDatabase } from './database.js';

const INSTEAD: Instead = {
  TypeORM: 'its database, dataSource.driver.databaseConnection, after dataSource.initialize()',
  Drizzle: 'its client, db.$client',
  '@libsql/client': 'a database of libsql: new Database("webhooks.db")',
};

const checked = new WeakSet<object>();

/**
 * Checks that the argument is an open database that answers at once, with the names of columns. Looks at a database
 * once.
 *
 * @param who - The function that needs the database, as the subject of a sentence.
 * @throws {UsageError} `client_invalid`, with the code that opens a database on this runtime.
 */
export function checkDatabase(database: SqliteDatabase, who: string): void {
  if (checked.has(database)) return;
  refuseWrapper(database, who, INSTEAD, opening());
  if (!hasMethods(database, 'prepare', 'exec')) {
    const given = typeof database === 'string' ? ', not a path' : '';
    throw new UsageError(
      'client_invalid',
      `${who} needs an open database${given}, such as ${opening()}.`,
    );
  }
  const fault = faultOf(database);
  if (fault) throw new UsageError('client_invalid', `${who} ${fault} Pass ${opening()}.`);
  checked.add(database);
}

/** Returns the reason why a database cannot be used. */
function faultOf(database: SqliteDatabase): string | undefined {
  let row: unknown;
  try {
    const statement = prepare(database, 'SELECT 1 AS probe');
    if (!hasMethods(statement, 'get', 'all')) return ASYNCHRONOUS;
    row = statement.get();
  } catch (error) {
    return `needs an open database, and this one cannot be read: ${describeError(error)}.`;
  }
  if (hasMethods(row, 'then')) return ASYNCHRONOUS;
  // A connection may be set to return every integer as a bigint.
  if (`${optionOf(row, 'probe')}` === '1') return undefined;
  return Array.isArray(row)
    ? 'needs rows with the names of their columns, and this database returns arrays.'
    : 'needs a database whose statements return rows, and this one returns none.';
}

const ASYNCHRONOUS =
  'needs a database whose statements answer at once, by get() and all(). Those of sqlite3, sql.js, libsql/promise ' +
  'and D1 do not; for D1, there is d1Store.';

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
