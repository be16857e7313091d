import { UsageError } from '../../errors.js';
import { describeError } from '../../report/text.js';
import { type Connection, openSqlite } from './sqlite.js';

/** A record that came to be, was replaced or, with a `value` of `undefined`, deleted. */
export interface Change {
  readonly account: string;
  readonly kind: string;
  /** The place of the record among all of its kind, which it keeps. */
  readonly place: number;
  readonly value: object | undefined;
}

/** A record as it is kept. */
export interface KeptRecord {
  readonly kind: string;
  readonly place: number;
  readonly value: unknown;
}

/** Keeps every change on disk, so that a sandbox that was killed comes back with all of them. */
export interface Journal {
  /** The keys of the accounts that something is kept of. */
  accounts(): readonly string[];
  /** What is kept of an account, the oldest of each kind first. */
  load(account: string): readonly KeptRecord[];
  /** Keeps all of the changes, or none. */
  write(changes: readonly Change[]): void;
  close(): void;
}

/** The layout of the file. Another one is refused: what a sandbox keeps is made anew in no time. */
const LAYOUT = 1;

/**
 * Opens the journal in a file of SQLite.
 *
 * @throws {UsageError} `option_invalid`, where there is no SQLite, the file is none of a sandbox, or another one has
 *   it open.
 */
export function openJournal(file: string): Journal {
  try {
    const connection = openSqlite(file);
    // Whoever names a file wants to find everything in it: memory in its place would lose it without a word.
    if (!connection) {
      throw new UsageError(
        'option_invalid',
        `createSandbox: the option db needs SQLite to keep everything in ${file}: run it on Node 22.13 or later, or npm install libsql.`,
      );
    }
    connection.exec('PRAGMA journal_mode = WAL');
    // Of a process that is killed nothing is lost by it; only of a machine that loses its power.
    connection.exec('PRAGMA synchronous = NORMAL');
    return journalOn(connection, file);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      'option_invalid',
      `createSandbox: the file of the option db cannot be used (${describeError(error)}). Its folder has to exist, the file has to be one of a sandbox, and no other sandbox may have it open.`,
      { cause: error },
    );
  }
}

function journalOn(connection: Connection, file: string): Journal {
  const [found] = connection.prepare('PRAGMA user_version').all() as { user_version: number }[];
  const layout = found?.user_version ?? 0;
  if (layout !== 0 && layout !== LAYOUT) {
    throw new UsageError(
      'option_invalid',
      `createSandbox: ${file} was written by another version of the sandbox. Delete it, or give another db.`,
    );
  }
  // Only after the first access in WAL mode can it be given back. Until then, who else opens the file is refused.
  connection.exec('PRAGMA locking_mode = EXCLUSIVE');
  connection.exec(`PRAGMA user_version = ${LAYOUT}`);
  connection.exec(`CREATE TABLE IF NOT EXISTS records (
    account TEXT NOT NULL, kind TEXT NOT NULL, place INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (account, kind, place)
  ) WITHOUT ROWID`);
  const put = connection.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)');
  const remove = connection.prepare(
    'DELETE FROM records WHERE account = ? AND kind = ? AND place = ?',
  );
  const accounts = connection.prepare('SELECT DISTINCT account FROM records');
  const load = connection.prepare(
    'SELECT kind, place, value FROM records WHERE account = ? ORDER BY kind, place',
  );
  return {
    accounts: () => (accounts.all() as { account: string }[]).map(({ account }) => account),
    load: (account) =>
      (load.all(account) as { kind: string; place: number; value: string }[]).map((row) => ({
        ...row,
        value: JSON.parse(row.value),
      })),
    write(changes) {
      connection.exec('BEGIN');
      try {
        for (const { account, kind, place, value } of changes) {
          if (value) put.run(account, kind, place, JSON.stringify(value));
          else remove.run(account, kind, place);
        }
        connection.exec('COMMIT');
      } catch (error) {
        connection.exec('ROLLBACK');
        throw error;
      }
    },
    close() {
      // libsql closes the file only when its statements are collected. Until then it must not hold a lock, which
      // in WAL mode it would.
      connection.exec('PRAGMA locking_mode = NORMAL');
      connection.exec('PRAGMA journal_mode = DELETE');
      connection.close();
    },
  };
}
