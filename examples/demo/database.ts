import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IdempotencyStore } from 'storefront-webhooks';
import { type SqliteDatabase, sqliteStore } from 'storefront-webhooks/sqlite';

/** Opens a store in its own SQLite file. `close` deletes the file. */
export async function openDatabase(): Promise<{ store: IdempotencyStore; close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'));
  const database = await openSqlite(join(folder, 'webhooks.db'));
  return {
    store: sqliteStore(database),
    close() {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openSqlite(file: string): Promise<SqliteDatabase & { close(): void }> {
  // Node has SQLite built in from version 22.13 on. The types of Node 20 do not include it.
  const builtin = process.getBuiltinModule('node:sqlite') as
    | typeof import('node:sqlite')
    | undefined;
  if (builtin) return new builtin.DatabaseSync(file);
  const { default: Database } = await import('libsql');
  return new Database(file);
}
