/** The used parts of `node:sqlite`, which the types of Node 20 lack. */
export interface DatabaseSync {
  exec(sql: string): void;
  prepare(sql: string): {
    run(...values: SqlValue[]): { changes: number | bigint };
    get(...values: SqlValue[]): unknown;
    all(...values: SqlValue[]): unknown[];
  };
  close(): void;
}

type SqlValue = string | number | null | Uint8Array;

/** Opens a file with the pragmas of the store. */
export function openDatabase(file: string): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite') as unknown as {
    DatabaseSync: new (file: string) => DatabaseSync;
  };
  const database = new sqlite.DatabaseSync(file);
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  return database;
}
