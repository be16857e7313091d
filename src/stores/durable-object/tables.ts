import type { SqliteValue } from '../sqlite/database.js';
import { FIND_LAYOUT, isThereByNow, remedyFor, updatesFrom } from '../sqlite/schema.js';

/** The part of Cloudflare's `DurableObjectStorage` that runs statements. */
export interface SqlStorage {
  readonly sql: {
    exec(query: string, ...values: SqliteValue[]): { toArray(): Record<string, unknown>[] };
  };
  transactionSync<Result>(work: () => Result): Result;
}

/** A row holds 2 MB: the body, and beside it what came with the request. */
export const MAX_BODY_BYTES = 1_900_000;

/** The tables of the deliveries in the SQLite of an object. */
export class Tables {
  readonly #storage: SqlStorage;
  #isReady = false;

  constructor(storage: SqlStorage) {
    this.#storage = storage;
  }

  /** Runs a statement. If a table or a column is missing, creates it and runs the statement again. */
  exec(query: string, ...values: SqliteValue[]): Record<string, unknown>[] {
    try {
      if (!this.#isReady) {
        const [row] = this.#sql(FIND_LAYOUT);
        this.#update(updatesFrom(row, 'this Durable Object'));
      }
      return this.#sql(query, ...values);
    } catch (error) {
      const remedy = remedyFor(error);
      if (remedy.length === 0) throw error;
      this.#update(remedy);
      return this.#sql(query, ...values);
    }
  }

  #update(statements: readonly string[]): void {
    for (const statement of statements) {
      try {
        this.#sql(statement);
      } catch (error) {
        if (!isThereByNow(error)) throw error;
      }
    }
    this.#isReady = true;
  }

  /** Runs a statement and reads all of its rows, because an open cursor breaks the object. */
  #sql(query: string, ...values: SqliteValue[]): Record<string, unknown>[] {
    return this.#storage.sql.exec(query, ...values).toArray();
  }
}
