import { prepare, type SqliteDatabase } from './database.js';
import { Row } from './rows.js';

/** Returns the path of a database; empty for one in memory. */
export function fileOf(database: SqliteDatabase): string {
  const main = prepare(database, `SELECT file FROM pragma_database_list WHERE name = 'main'`).get();
  return new Row(main).maybeText('file') ?? 'unnamed';
}

/** Returns the name of a file without its folders, which descriptions must not reveal. */
export function baseName(file: string): string {
  return file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
}
