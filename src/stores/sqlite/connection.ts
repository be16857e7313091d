import { UsageError } from '../../errors/errors.js';
import { atEndOfTurn } from '../../runtime/turn.js';
import { warnOnce } from '../warn-once.js';
import {
  isBusy,
  isWithinTransaction,
  prepare,
  type SqliteDatabase,
  type SqliteStatement,
} from './database.js';
import { baseName, fileOf } from './file.js';
import { FIND_LAYOUT, isThereByNow, remedyFor, sqliteSchema, updatesFrom } from './schema.js';
import { STATEMENTS, type StatementName } from './statements.js';
import { Synchronous } from './synchronous.js';

/** How long a verb waits while another process holds the lock. */
const BUSY_MS = 5_000;
/** The longest pause between two tries, at first and after a while: a verb that waits longer tries more often. */
const PAUSE_MS = 20;
const LONG_PAUSE_MS = 3;
const LONG_MS = 250;
/** The `busy_timeout` for a connection without one, so that two of the user's own writes at once do not fail. */
const DEFAULT_WAIT_MS = 1_000;
/** The most works of a turn, so that the event loop is not blocked for long. */
const MAX_WORKS = 250;
/** How long a transaction waits for more works, at most. */
const MAX_GATHER_MS = 20;

export type Prepared = Readonly<Record<StatementName, SqliteStatement>>;

interface Waiting {
  readonly work: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
  /** Whether the work runs in a transaction of its own. Also set after a shared transaction has failed, so that only the faulty work fails again. */
  readonly isAlone: boolean;
  /** The user's own statements, which run once at most. */
  readonly isForeign: boolean;
  /** The commit need not wait for the disk. */
  readonly isSoon: boolean;
  /** The work writes nothing. */
  readonly isReading: boolean;
}

type Kind = Pick<Waiting, 'isAlone' | 'isForeign' | 'isSoon' | 'isReading'>;

const connections = new WeakMap<SqliteDatabase, Connection>();

/** Returns the connection of a database, on which the store's verbs and the ledger's transactions take turns. */
export function connectionOf(database: SqliteDatabase): Connection {
  const connection = connections.get(database) ?? new Connection(database);
  connections.set(database, connection);
  return connection;
}

/**
 * Runs statements in the order of their calls. Statements of one turn of the event loop, under load of several, share
 * a transaction, and so wait for the disk only once.
 */
export class Connection {
  readonly #database: SqliteDatabase;
  readonly #synchronous: Synchronous;
  #prepared: Prepared | undefined;
  #waitMs: number | undefined;
  #hasWal = false;
  /** In order, but works that have failed together come first. */
  #waiting: Waiting[] = [];
  #isScheduled = false;
  #gathersUntil = 0;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#synchronous = new Synchronous(database);
  }

  /**
   * Runs a work, and resolves once its writes are on the disk.
   *
   * @param isSoon - Resolves as soon as no crash of this process can undo the writes, if nothing else of the turn
   *   has to be on the disk.
   * @param isReading - Does not wait for the lock, if nothing else of the turn writes.
   */
  run<Result>(
    work: (statements: Prepared) => Result,
    isSoon = false,
    isReading = false,
  ): Promise<Result> {
    const how = { isAlone: false, isForeign: false, isSoon, isReading };
    return this.#add(() => work(this.#ready()), how);
  }

  /**
   * Runs a handler's statements in their own transaction, and resolves once it is on the disk. Only waiting for the
   * lock is retried. Once the work has begun, any error rolls it back, and rejects the promise.
   */
  transact<Result>(work: () => Result): Promise<Result> {
    return this.#add(work, { isAlone: true, isForeign: true, isSoon: false, isReading: false });
  }

  #add<Result>(work: () => Result, how: Kind): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const settle = resolve as (result: unknown) => void;
      this.#waiting.push({ work, resolve: settle, reject, since: performance.now(), ...how });
      this.#schedule(atEndOfTurn);
    });
  }

  #schedule(when: (callback: () => void) => unknown): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    when(() => this.#gather());
  }

  /**
   * Begins a transaction. Under load, the event loop first reads requests for as long as the last transaction took,
   * while each turn brings more works. Otherwise each turn would commit for a few works, and the loop would do little
   * else.
   */
  #gather(before = 0): void {
    const { length } = this.#waiting;
    const isGrowing = length > before && length < MAX_WORKS;
    const isWaiting = isGrowing && performance.now() < this.#gathersUntil;
    if (isWaiting && !this.#waiting.some(({ isAlone }) => isAlone)) {
      atEndOfTurn(() => this.#gather(length));
      return;
    }
    this.#isScheduled = false;
    this.#flush(this.#waiting.splice(0, this.#together()));
  }

  /** Returns how many of the waiting works share the next transaction. */
  #together(): number {
    const next = this.#waiting.slice(0, MAX_WORKS);
    const alone = next.findIndex(({ isAlone }) => isAlone);
    return alone < 0 ? next.length : Math.max(1, alone);
  }

  #flush(batch: readonly Waiting[]): void {
    const beganAt = performance.now();
    const isForeign = batch.some((waiting) => waiting.isForeign);
    const isSoon = batch.every((waiting) => waiting.isSoon);
    let hasBegun = false;
    try {
      // A ledger may use a separate database without the store's tables.
      if (!isForeign) this.#ready();
      if (isSoon) this.#synchronous.relax();
      else this.#synchronous.restore();
      // In WAL mode, a reader and a writer do not wait for each other. Without WAL, a reader could fail a commit.
      const isReading = this.#hasWal && batch.every((waiting) => waiting.isReading);
      this.#begin(isReading);
      hasBegun = true;
      // The user has opened the database of a ledger, perhaps with commits that a power cut can undo.
      const low = isForeign ? this.#synchronous.low() : undefined;
      if (low !== undefined) {
        this.#database.exec('ROLLBACK');
        hasBegun = false;
        this.#synchronous.raise(low);
        this.#begin();
        hasBegun = true;
      }
      const runAll = () => batch.map(({ work }) => work());
      const results = isReading ? this.#withoutWaiting(runAll) : runAll();
      this.#database.exec('COMMIT');
      batch.forEach(({ resolve }, index) => {
        resolve(results[index]);
      });
    } catch (error) {
      if (hasBegun) this.#rollBack();
      if (hasBegun && isForeign) for (const { reject } of batch) reject(error);
      else this.#fail(batch, isWithinTransaction(error) ? withinTransaction(error) : error);
    } finally {
      try {
        this.#synchronous.restore();
      } catch {
        // The database is closed, or the user has begun a transaction on it. The next batch tries again.
      }
    }
    const endedAt = performance.now();
    this.#gathersUntil = endedAt + Math.min(MAX_GATHER_MS, endedAt - beganAt);
    this.#schedule(atEndOfTurn);
  }

  #ready(): Prepared {
    this.#prepared ??= this.#setUp();
    return this.#prepared;
  }

  #setUp(): Prepared {
    this.#waitMs = this.#findWaitMs() || DEFAULT_WAIT_MS;
    return this.#withoutWaiting(() => {
      this.#hasWal = switchToWal(this.#database);
      return setUp(this.#database);
    });
  }

  #findWaitMs(): number {
    const [found] = Object.values(prepare(this.#database, 'PRAGMA busy_timeout').get() as object);
    return Number(found);
  }

  /**
   * Runs a function without SQLite's wait for the lock, which blocks the event loop. This class retries instead.
   */
  #withoutWaiting<Result>(run: () => Result): Result {
    this.#waitMs ??= this.#findWaitMs();
    this.#database.exec('PRAGMA busy_timeout = 0');
    try {
      return run();
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${this.#waitMs}`);
    }
  }

  #begin(isReading = false): void {
    this.#withoutWaiting(() => this.#database.exec(isReading ? 'BEGIN' : 'BEGIN IMMEDIATE'));
  }

  /** Rolls back, unless SQLite has done so by itself, as after a full disk. */
  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {}
  }

  #fail(batch: readonly Waiting[], error: unknown): void {
    // For example, the database was emptied, or an older one was restored.
    if (remedyFor(error).length > 0) this.#prepared = undefined;
    if (!isBusy(error) && batch.length > 1) {
      // All of it was rolled back. Retry each in its own turn, because each waits for the disk.
      this.#waiting.unshift(...batch.map((waiting) => ({ ...waiting, isAlone: true })));
      return;
    }
    const now = performance.now();
    const again = batch.filter(({ since }) => isBusy(error) && now - since < BUSY_MS);
    for (const waiting of batch) if (!again.includes(waiting)) waiting.reject(error);
    if (again.length === 0) return;
    this.#waiting.unshift(...again);
    const [{ since: oldest } = { since: now }] = again;
    const most = now - oldest > LONG_MS ? LONG_PAUSE_MS : PAUSE_MS;
    this.#schedule((callback) => setTimeout(callback, 1 + Math.random() * most));
  }
}

function setUp(database: SqliteDatabase): Prepared {
  // The default of better-sqlite3 is NORMAL, with which a power cut can undo writes that were answered.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(sqliteSchema());
  const found = prepare(database, FIND_LAYOUT).get();
  for (const statement of updatesFrom(found, 'the SQLite file'))
    execUnlessThere(database, statement);
  try {
    return prepareAll(database);
  } catch (error) {
    // For example, an older table was restored in between.
    for (const statement of remedyFor(error)) execUnlessThere(database, statement);
    return prepareAll(database);
  }
}

/** Returns whether the file has a WAL now. Warns if it cannot: then it is most likely on a network drive. */
function switchToWal(database: SqliteDatabase): boolean {
  const [row] = prepare(database, 'PRAGMA journal_mode = WAL').all();
  const [mode] = Object.values(row ?? {});
  const file = mode === 'wal' || mode === 'memory' ? '' : fileOf(database);
  // A temporary database ends with its connection.
  if (file !== '')
    warnOnce(
      `SQLite could not switch ${baseName(file)} to WAL (its journal_mode is ${mode}). If the file is on a network ` +
        'drive, its locks may not hold, and a delivery can be handled twice. Move it to a local disk.',
      'operate.md#sqlite-no-wal',
    );
  return mode === 'wal';
}

function withinTransaction(cause: unknown): UsageError {
  return new UsageError(
    'client_invalid',
    'The program has begun a transaction on the SQLite connection of the store or the ledger, and has not ended it. ' +
      'Between BEGIN and COMMIT on it, a handler must not await anything. Give the store a connection of its own, or ' +
      'register the handler with { transaction: true } and leave out BEGIN, COMMIT and await.',
    { cause },
  );
}

/** Runs a statement. Ignores the error if another process has run it first. */
function execUnlessThere(database: SqliteDatabase, statement: string): void {
  try {
    database.exec(statement);
  } catch (error) {
    if (!isThereByNow(error)) throw error;
  }
}

function prepareAll(database: SqliteDatabase): Prepared {
  const entries = Object.entries(STATEMENTS).map(([name, sql]) => [name, prepare(database, sql)]);
  // The type of Object.fromEntries loses the names.
  return Object.fromEntries(entries) as Prepared;
}
