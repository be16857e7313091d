import type Database from 'libsql';
import type { D1Client, D1Statement } from 'storefront-webhooks/cloudflare';

/** Ends the lease of a process that has died: on D1, no transaction shows that its handler is gone. */
export const EXPIRE = `UPDATE webhook_delivery SET not_before = not_before - 100000 WHERE state = 'leased'`;

interface Hooks {
  before?: () => void | Promise<void>;
  after?: () => void | Promise<void>;
  statement?: (query: string) => void | Promise<void>;
}

/** D1 is SQLite behind statements and batches. The tests of `test/full/` run on the real one. */
export class D1OverLibsql implements D1Client {
  readonly #database: Database.Database;
  /**
   * Called before each batch, after each that was committed, and before each statement outside a batch. It may throw, as
   * a lost connection does.
   */
  readonly hooks: Hooks = {};

  constructor(database: Database.Database) {
    this.#database = database;
  }

  prepare(query: string): Statement {
    return new Statement(this.#database, this.hooks, query);
  }

  async batch(statements: D1Statement[]): Promise<{ results: unknown[] }[]> {
    await this.hooks.before?.();
    this.#database.exec('BEGIN IMMEDIATE');
    let results: { results: unknown[] }[];
    try {
      results = statements.map((statement) => {
        if (!(statement instanceof Statement)) throw new TypeError('It is of another database.');
        return { results: statement.run() };
      });
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
    await this.hooks.after?.();
    return results;
  }
}

class Statement implements D1Statement {
  readonly #database: Database.Database;
  readonly #hooks: Hooks;
  readonly query: string;
  readonly values: readonly unknown[];

  constructor(
    database: Database.Database,
    hooks: Hooks,
    query: string,
    values: readonly unknown[] = [],
  ) {
    this.#database = database;
    this.#hooks = hooks;
    this.query = query;
    this.values = values;
  }

  bind(...values: unknown[]): Statement {
    return new Statement(this.#database, this.#hooks, this.query, values);
  }

  async all(): Promise<{ results: unknown[] }> {
    await this.#hooks.statement?.(this.query);
    return { results: this.run() };
  }

  run(): unknown[] {
    // D1 refuses them, because a batch is its only transaction.
    if (/^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT)\b/i.test(this.query))
      throw new Error('D1_ERROR: not authorized');
    const statement = this.#database.prepare(this.query);
    if (statement.reader) return statement.all(...this.values);
    statement.run(...this.values);
    return [];
  }
}
