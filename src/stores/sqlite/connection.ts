import { isBusy, prepare, type SqliteDatabase, type SqliteStatement } from './database.js';
import {
  FIND_LAYOUT,
  isThereByNow,
  type LayoutRow,
  remedyFor,
  sqliteSchema,
  updatesFrom,
} from './schema.js';
import { STATEMENTS, type StatementName } from './statements.js';

/** How long another process may hold the lock before a verb gives up. */
const BUSY_MS = 5_000;
/** What a connection that waits for nobody is given: its user's own writes would fail wherever two write. */
const DEFAULT_WAIT_MS = 1_000;
/** What a turn may do at once, so that the event loop is not held up for long. */
const MAX_WORKS = 250;

export type Prepared = Readonly<Record<StatementName, SqliteStatement>>;

interface Waiting {
  readonly work: (statements: Prepared) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
  /** Has failed together with others: it is run in a transaction of its own, so that one bad one fails alone. */
  readonly isAlone: boolean;
}

/**
 * The statements, run in the order in which they were asked for. Those of one turn of the event loop
 * share a transaction, and so one wait for the disk.
 */
export class Connection {
  readonly #database: SqliteDatabase;
  #prepared: Prepared | undefined;
  #waitMs = DEFAULT_WAIT_MS;
  /** Those that are to run alone come first. */
  #waiting: Waiting[] = [];
  #isScheduled = false;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** Resolves once what the work has written is on the disk. */
  run<Result>(work: (statements: Prepared) => Result): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const settle = resolve as (result: unknown) => void;
      const since = performance.now();
      this.#waiting.push({ work, resolve: settle, reject, since, isAlone: false });
      this.#schedule(setImmediate);
    });
  }

  #schedule(when: (callback: () => void) => unknown): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    when(() => {
      this.#isScheduled = false;
      this.#flush(this.#waiting.splice(0, this.#waiting[0]?.isAlone ? 1 : MAX_WORKS));
    });
  }

  #flush(batch: readonly Waiting[]): void {
    try {
      const results = this.#transact(batch);
      batch.forEach(({ resolve }, index) => {
        resolve(results[index]);
      });
    } catch (error) {
      this.#fail(batch, error);
    }
    this.#schedule(setImmediate);
  }

  #transact(batch: readonly Waiting[]): unknown[] {
    this.#prepared ??= this.#setUp();
    const prepared = this.#prepared;
    this.#withoutWaiting(() => this.#database.exec('BEGIN IMMEDIATE'));
    try {
      const results = batch.map(({ work }) => work(prepared));
      this.#database.exec('COMMIT');
      return results;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #setUp(): Prepared {
    const [found] = Object.values(prepare(this.#database, 'PRAGMA busy_timeout').get() as object);
    this.#waitMs = Number(found) || DEFAULT_WAIT_MS;
    return this.#withoutWaiting(() => setUp(this.#database));
  }

  /** SQLite would hold up the event loop until the lock is free; this class tries again later instead. */
  #withoutWaiting<Result>(run: () => Result): Result {
    this.#database.exec('PRAGMA busy_timeout = 0');
    try {
      return run();
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${this.#waitMs}`);
    }
  }

  /** SQLite has rolled back by itself where the disk is full, for one. */
  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {}
  }

  #fail(batch: readonly Waiting[], error: unknown): void {
    // As after somebody has emptied the database, or put an older one back.
    if (remedyFor(error).length > 0) this.#prepared = undefined;
    if (!isBusy(error) && batch.length > 1) {
      // All of it was rolled back. Each in a turn of its own, because each waits for the disk.
      this.#waiting.unshift(...batch.map((waiting) => ({ ...waiting, isAlone: true })));
      return;
    }
    const now = performance.now();
    const again = batch.filter(({ since }) => isBusy(error) && now - since < BUSY_MS);
    for (const waiting of batch) if (!again.includes(waiting)) waiting.reject(error);
    if (again.length === 0) return;
    this.#waiting.unshift(...again);
    this.#schedule((callback) => setTimeout(callback, 1 + Math.random() * 20));
  }
}

function setUp(database: SqliteDatabase): Prepared {
  database.exec('PRAGMA journal_mode = WAL');
  // better-sqlite3 comes with NORMAL, by which a power cut takes back what was answered.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(sqliteSchema());
  const found = prepare(database, FIND_LAYOUT).get() as LayoutRow | undefined;
  for (const statement of updatesFrom(found, 'the SQLite file'))
    execUnlessThere(database, statement);
  try {
    return prepareAll(database);
  } catch (error) {
    // As where an older table was put back under it.
    for (const statement of remedyFor(error)) execUnlessThere(database, statement);
    return prepareAll(database);
  }
}

/** Another process may have done it first. */
function execUnlessThere(database: SqliteDatabase, statement: string): void {
  try {
    database.exec(statement);
  } catch (error) {
    if (!isThereByNow(error)) throw error;
  }
}

function prepareAll(database: SqliteDatabase): Prepared {
  const entries = Object.entries(STATEMENTS).map(([name, sql]) => [name, prepare(database, sql)]);
  // Object.fromEntries forgets the names.
  return Object.fromEntries(entries) as Prepared;
}
