import { prepare, type SqliteDatabase } from './database.js';

/** With FULL, a commit waits for the disk. In WAL mode, it does not with NORMAL. */
const FULL = 2;

/** Whether the commits of a connection wait for the disk. SQLite changes this between transactions only. */
export class Synchronous {
  readonly #database: SqliteDatabase;
  /** The level that `restore` sets; `undefined` if the level is as it was. */
  #former: number | undefined;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** Lets commits return before they are on the disk, until `restore`. */
  relax(): void {
    this.#former = FULL;
    this.#database.exec('PRAGMA synchronous = NORMAL');
  }

  /**
   * Returns the level if it is below FULL. Right only within a transaction: better-sqlite3 lowers a connection to
   * NORMAL when its first transaction finds the file in WAL mode.
   */
  low(): number | undefined {
    const [level] = Object.values(prepare(this.#database, 'PRAGMA synchronous').get() ?? {});
    return Number(level) < FULL ? Number(level) : undefined;
  }

  /** Lets commits wait for the disk, until `restore` sets the former level. */
  raise(former: number): void {
    this.#database.exec('PRAGMA synchronous = FULL');
    this.#former = former;
  }

  restore(): void {
    if (this.#former === undefined) return;
    this.#database.exec(`PRAGMA synchronous = ${this.#former}`);
    this.#former = undefined;
  }
}
