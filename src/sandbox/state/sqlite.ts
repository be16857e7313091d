import nodeModule from 'node:module';
import process from 'node:process';
import { ownFile } from '../../runtime/own-file.js';

/** The part of a connection that the journal uses, which `node:sqlite` and `libsql` both have. */
export interface Connection {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: (string | number)[]): unknown;
    all(...values: (string | number)[]): unknown[];
  };
  close(): unknown;
}

type Opens = new (file: string) => Connection;

/** Opens a file with `node:sqlite` or `libsql`. Returns `undefined` if both are missing. */
export function openSqlite(file: string): Connection | undefined {
  const Database = findBuiltin() ?? findLibsql();
  return Database && new Database(file);
}

/** Returns `node:sqlite`, which Node has from 22.13 on. */
function findBuiltin(): Opens | undefined {
  // Unlike an import, this prints nothing on stderr if the module is missing.
  const builtin: { DatabaseSync?: Opens } | undefined = process.getBuiltinModule('node:sqlite');
  return builtin?.DatabaseSync;
}

/** Returns `libsql`, an optional peer dependency for Node 20. */
function findLibsql(): Opens | undefined {
  try {
    // As a method: webpack replaces the calls of an imported createRequire.
    return nodeModule.createRequire(ownFile())('libsql');
  } catch {
    return undefined;
  }
}
