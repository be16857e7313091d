import { isBusy, prepare, type SqliteDatabase, type SqliteStatement } from './database.js';
import { FIND_LAYOUT, isThereByNow, remedyFor, sqliteSchema, updatesFrom } from './schema.js';
import { STATEMENTS, type StatementName } from './statements.js';

/** How long another process may hold the lock before a verb gives up. */
const BUSY_MS = 5_000;
/** What a connection that waits for nobody is given: its user's own writes would fail wherever two write. */
const DEFAULT_WAIT_MS = 1_000;
/** What a turn may do at once, so that the event loop is not held up for long. */
const MAX_WORKS = 250;

export type Prepared = Readonly<Record<StatementName, SqliteStatement>>;

interface Waiting {
  readonly work: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
  /** Shares its transaction with nobody: also what has failed together with others, so that one bad one fails alone. */
  readonly isAlone: boolean;
  /** Somebody else's statements, which are run once at most. */
  readonly isForeign: boolean;
}

const connections = new WeakMap<SqliteDatabase, Connection>();

/** The one of a database: the store's verbs and the ledger's transactions wait for each other's turn. */
export function connectionOf(database: SqliteDatabase): Connection {
  const connection = connections.get(database) ?? new Connection(database);
  connections.set(database, connection);
  return connection;
}

/**
 * The statements, run in the order in which they were asked for. Those of one turn of the event loop
 * share a transaction, and so one wait for the disk.
 */
export class Connection {
  readonly #database: SqliteDatabase;
  #prepared: Prepared | undefined;
  #waitMs: number | undefined;
  /** Those that have failed together come first. */
  #waiting: Waiting[] = [];
  #isScheduled = false;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** Resolves once what the work has written is on the disk. */
  run<Result>(work: (statements: Prepared) => Result): Promise<Result> {
    return this.#add(() => work(this.#ready()), { isAlone: false, isForeign: false });
  }

  /**
   * The same for statements of a handler, in a transaction of their own. Only the wait for the lock is tried
   * again: where the work has begun, whatever is thrown undoes it, and is thrown on.
   */
  transact<Result>(work: () => Result): Promise<Result> {
    return this.#add(work, { isAlone: true, isForeign: true });
  }

  #add<Result>(work: () => Result, how: Pick<Waiting, 'isAlone' | 'isForeign'>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const settle = resolve as (result: unknown) => void;
      this.#waiting.push({ work, resolve: settle, reject, since: performance.now(), ...how });
      this.#schedule(setImmediate);
    });
  }

  #schedule(when: (callback: () => void) => unknown): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    when(() => {
      this.#isScheduled = false;
      this.#flush(this.#waiting.splice(0, this.#together()));
    });
  }

  /** How many of those that wait share a transaction. */
  #together(): number {
    const next = this.#waiting.slice(0, MAX_WORKS);
    const alone = next.findIndex(({ isAlone }) => isAlone);
    return alone < 0 ? next.length : Math.max(1, alone);
  }

  #flush(batch: readonly Waiting[]): void {
    const isForeign = batch.some((waiting) => waiting.isForeign);
    let hasBegun = false;
    try {
      // A ledger may be in a database of its own, which is none of the store's.
      if (!isForeign) this.#ready();
      this.#withoutWaiting(() => this.#database.exec('BEGIN IMMEDIATE'));
      hasBegun = true;
      const results = batch.map(({ work }) => work());
      this.#database.exec('COMMIT');
      batch.forEach(({ resolve }, index) => {
        resolve(results[index]);
      });
    } catch (error) {
      if (hasBegun) this.#rollBack();
      if (hasBegun && isForeign) for (const { reject } of batch) reject(error);
      else this.#fail(batch, error);
    }
    this.#schedule(setImmediate);
  }

  #ready(): Prepared {
    this.#prepared ??= this.#setUp();
    return this.#prepared;
  }

  #setUp(): Prepared {
    this.#waitMs = this.#findWaitMs() || DEFAULT_WAIT_MS;
    return this.#withoutWaiting(() => setUp(this.#database));
  }

  #findWaitMs(): number {
    const [found] = Object.values(prepare(this.#database, 'PRAGMA busy_timeout').get() as object);
    return Number(found);
  }

  /** SQLite would hold up the event loop until the lock is free; this class tries again later instead. */
  #withoutWaiting<Result>(run: () => Result): Result {
    this.#waitMs ??= this.#findWaitMs();
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
  const found = prepare(database, FIND_LAYOUT).get();
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
