import { createRequire } from 'node:module';
import process from 'node:process';

/** The part of a connection that the journal needs: `node:sqlite` and `libsql` have it alike. */
export interface Connection {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: (string | number)[]): unknown;
    all(...values: (string | number)[]): unknown[];
  };
  close(): unknown;
}

type Opens = new (file: string) => Connection;

/** Opens a file by whichever SQLite there is; `undefined` where there is none. */
export function openSqlite(file: string): Connection | undefined {
  const Database = findBuiltin() ?? findLibsql();
  return Database && new Database(file);
}

/** `node:sqlite`, from Node 22.13 on. */
function findBuiltin(): Opens | undefined {
  // By this, nothing is told on stderr where there is no such module.
  const builtin: { DatabaseSync?: Opens } | undefined = process.getBuiltinModule('node:sqlite');
  return builtin?.DatabaseSync;
}

/** The optional peer, for Node 20. */
function findLibsql(): Opens | undefined {
  try {
    return createRequire(import.meta.url)('libsql');
  } catch {
    return undefined;
  }
}
