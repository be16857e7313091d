import { toBase64 } from '../../runtime/base64.js';
import { isBytes } from '../../runtime/bytes.js';
import type { SqliteValue } from '../sqlite/database.js';
import { STATEMENTS, type StatementName } from '../sqlite/statements.js';
import type { D1Client, D1Statement } from './database.js';

/** Makes a statement of a store. */
export function bind(
  database: D1Client,
  name: StatementName,
  values: readonly SqliteValue[],
): D1Statement {
  return database.prepare(STATEMENTS[name]).bind(...values.map(toD1));
}

// Base64, because D1 sends bytes as JSON numbers, which takes six times as long.
function toD1(value: SqliteValue): Exclude<SqliteValue, Uint8Array> {
  return isBytes(value) ? toBase64(value) : value;
}
