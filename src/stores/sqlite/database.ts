/**
 * A connection to SQLite by its shape: `DatabaseSync` of `node:sqlite` (Node, Deno), `Database` of
 * `better-sqlite3`, or `Database` of `bun:sqlite`.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  // never, because the drivers' types differ in what they say a statement takes.
  prepare(sql: string): { get(...values: never[]): unknown; all(...values: never[]): unknown[] };
}

/** What all of them take. */
export type SqliteValue = string | number | null | Uint8Array;

export interface SqliteStatement {
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

export function prepare(database: SqliteDatabase, sql: string): SqliteStatement {
  return database.prepare(sql) as SqliteStatement;
}

/** Whether another process held the lock for too long: nothing was done, and it can be tried again. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && /database (table )?is locked/.test(error.message);
}
