import { UsageError } from '../../errors/errors.js';
import { describeError } from '../../errors/text.js';
import { type Connection, openSqlite } from './sqlite.js';

/** A record that was created, replaced or, with a `value` of `undefined`, deleted. */
export interface Change {
  readonly account: string;
  readonly kind: string;
  /** The position of the record among all records of its kind, which never changes. */
  readonly place: number;
  readonly value: object | undefined;
}

/** A record as the journal stores it. */
export interface KeptRecord {
  readonly kind: string;
  readonly place: number;
  readonly value: unknown;
}

/** Stores every change on disk, so that a killed sandbox restarts with all of them. */
export interface Journal {
  /** Returns the keys of the accounts that have records. */
  accounts(): readonly string[];
  /** Returns the records of an account, the oldest of each kind first. */
  load(account: string): readonly KeptRecord[];
  /** Stores all of the changes, or none. */
  write(changes: readonly Change[]): void;
  close(): void;
}

/**
 * The layout of the file. Files of another layout are rejected, not migrated: the data of a sandbox is quick to
 * recreate.
 */
const LAYOUT = 1;

/**
 * Opens the journal in a SQLite file.
 *
 * @throws {UsageError} `option_invalid`, if SQLite is missing, the file is not one of a sandbox, or another
 *   sandbox has it open.
 */
export function openJournal(file: string): Journal {
  try {
    const connection = openSqlite(file);
    // Do not fall back to memory, which would lose everything silently.
    if (!connection) {
      throw new UsageError(
        'option_invalid',
        `createSandbox: the option db needs SQLite to write ${file}. Run the sandbox on Node 22.13 or later, or npm install libsql.`,
      );
    }
    connection.exec('PRAGMA journal_mode = WAL');
    // A killed process loses nothing with this setting. Only a power failure can lose changes.
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
      `createSandbox: ${file} was written by another version of the sandbox. Delete it, or set db to another file.`,
    );
  }
  // SQLite gives an exclusive lock back only if it was set after the first access in WAL mode. Until close(), no
  // other process can open the file.
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
      // libsql closes the file only when its statements are garbage-collected. Leave WAL mode, in which it would
      // hold a lock until then.
      connection.exec('PRAGMA locking_mode = NORMAL');
      connection.exec('PRAGMA journal_mode = DELETE');
      connection.close();
    },
  };
}
