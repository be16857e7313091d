/**
 * A store on a SQLite file in a separate process, on a runtime with another driver than the tests'. Takes a
 * line of JSON for each call, and prints a line of JSON for each answer.
 *
 *     <runtime> process.mjs <driver> <file>
 */
import { createInterface } from 'node:readline';
import { type SqliteDatabase, sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';
import { forward } from '../../../src/stores/contract.js';
import { answer, type RemoteVerbs } from '../../support/remote-answer.js';
import { openDatabase } from './open-database.js';

const [driver = '', file = ''] = process.argv.slice(2);
const database = await openDatabase(driver, file);
const ledger = sqliteLedger();

const {
  durable,
  description,
  whenSilent: _,
  transactions: __,
  maxBodyBytes: ___,
  ...store
} = forward(sqliteStore(database));
const verbs: RemoteVerbs = {
  ...store,
  durable: () => durable,
  description: () => description,
  /** Runs any statement with which a test prepares or inspects the file. */
  sql: (sql: string) => database.prepare(sql).all(),
  exec: (sql: string) => void database.exec(sql),
  /** Returns the largest delay of this process's timers within some milliseconds. */
  longestGap: async (ms: number) => {
    const end = performance.now() + ms;
    let longest = 0;
    for (let last = performance.now(); last < end; ) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  },
  /** A transaction of a handler. */
  sell: (effect: { key: string; handler: string }, fails: boolean) => {
    database.exec('BEGIN IMMEDIATE');
    try {
      const isFirst = ledger.once(database, effect);
      if (isFirst) database.exec('UPDATE stock SET n = n - 1');
      if (fails) throw new Error('it fails');
      database.exec('COMMIT');
      return isFirst;
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  },
  transact: (effect: { key: string; handler: string }, how: HowToWork = 'right') =>
    ledger.transaction(database, effect, works[how]),
  onceOutside: (effect: { key: string; handler: string }) => ledger.once(database, effect),
};

const works = {
  right: (tx: SqliteDatabase) => {
    tx.exec('UPDATE stock SET n = n - 1');
  },
  fails: (tx: SqliteDatabase) => {
    tx.exec('UPDATE stock SET n = n - 1');
    throw new Error('it fails');
  },
  'fails as if it were locked': (tx: SqliteDatabase) => {
    tx.exec('UPDATE stock SET n = n - 1');
    throw new Error('database is locked');
  },
  'returns a promise': (tx: SqliteDatabase) => {
    tx.exec('UPDATE stock SET n = n - 1');
    return Promise.reject(new Error('nobody waits for it'));
  },
  'is async': async (tx: SqliteDatabase) => {
    tx.exec('UPDATE stock SET n = n - 1');
    await Promise.resolve();
    tx.exec('UPDATE stock SET n = n - 1');
  },
  /** Leaves the level of `synchronous` within the transaction in the stock. */
  'looks whether the disk is waited for': (tx: SqliteDatabase) => {
    const [level] = Object.values(tx.prepare('PRAGMA synchronous').get() ?? {});
    tx.exec(`UPDATE stock SET n = ${level}`);
  },
  'ends its transaction': (tx: SqliteDatabase) => {
    tx.exec('ROLLBACK');
  },
};
type HowToWork = keyof typeof works;

createInterface({ input: process.stdin }).on('line', async (line) => {
  process.stdout.write(await answer(line, () => verbs));
});
