import type Database from 'libsql';
import type { OwnStorage } from 'storefront-webhooks/cloudflare';

type Values = Parameters<OwnStorage['sql']['exec']>[1][];

/** The storage of an object is SQLite behind two functions. The tests of `test/full/` run on the real one. */
export class StorageOverLibsql implements OwnStorage {
  readonly #database: Database.Database;
  onSync = () => {};

  constructor(database: Database.Database) {
    this.#database = database;
  }

  readonly sql = {
    exec: (query: string, ...values: Values) => {
      // The runtime refuses them in favour of transactionSync.
      if (/^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT)\b/i.test(query)) throw new Error('not authorized');
      const statement = this.#database.prepare(query);
      if (statement.reader) {
        const rows = statement.all(...values) as Record<string, unknown>[];
        return { toArray: () => rows };
      }
      statement.run(...values);
      return { toArray: () => [] };
    },
  };

  transactionSync<Result>(work: () => Result): Result {
    this.#database.exec('BEGIN');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  async sync(): Promise<void> {
    this.onSync();
  }
}
