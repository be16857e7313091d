import type { SqliteDatabase } from 'storefront-webhooks/sqlite';

/** Opens a file with a driver of the runtime, or with one that is at an address. */
export async function openDatabase(driver: string, file: string): Promise<SqliteDatabase> {
  switch (driver) {
    case 'node:sqlite': {
      const { DatabaseSync } = await import('node:sqlite' as string);
      return new DatabaseSync(file);
    }
    case 'bun:sqlite': {
      const { Database } = await import('bun:sqlite' as string);
      return new Database(file);
    }
    default: {
      const { default: Database } = await import(driver);
      return new Database(file);
    }
  }
}
