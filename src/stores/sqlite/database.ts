/**
 * A connection to SQLite: `DatabaseSync` of `node:sqlite` (Node, Deno), `Database` of `better-sqlite3`, or
 * `Database` of `bun:sqlite`.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  // never, because the drivers declare different types for the values of a statement.
  prepare(sql: string): { get(...values: never[]): unknown; all(...values: never[]): unknown[] };
}

/** The values that all drivers accept. */
export type SqliteValue = string | number | null | Uint8Array;

export interface SqliteStatement {
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

export function prepare(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = database.prepare(sql) as SqliteStatement & {
    setReturnArrays?(on: boolean): void;
  };
  // A database of node:sqlite may be set to return rows as arrays.
  statement.setReturnArrays?.(false);
  return statement;
}

/** Returns whether the program has begun a transaction on the connection, and not ended it. Nothing was changed. */
export function isWithinTransaction(error: unknown): boolean {
  return error instanceof Error && /(?:within|inside) a transaction/.test(error.message);
}

/** Returns whether another process held the lock for too long. Nothing was changed, and a retry is safe. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && /database (table )?is locked/.test(error.message);
}
