import type { Pool, PoolClient } from 'pg';
import type { PostgresLedger } from 'storefront-webhooks/postgres';
import type { SqliteLedger } from 'storefront-webhooks/sqlite';
import { perhapsAnother } from './broken-store.js';
import type { DatabaseSync } from './database-sync.js';

/** One run of a handler, recorded in the database as its plain effect. */
export interface HandlerRun {
  readonly delivery: string;
  readonly key: string;
  readonly handler: string;
  readonly attempt: number;
  /** When it started, on the clock that all processes share. */
  readonly started: number;
}

/** The initial stock of each product, and the number of products. */
export const STOCK = 1_000_000;
export const PRODUCTS = 100;

/** The tables of the effects, in SQL that both databases accept. No constraint prevents duplicates, so that the
 * harness can count them. */
export const EFFECT_TABLES = `
  CREATE TABLE handler_run (
    delivery TEXT, key TEXT, handler TEXT, attempt INTEGER, process INTEGER, started DOUBLE PRECISION
  );
  CREATE TABLE recorded (key TEXT, handler TEXT, attempt INTEGER, at DOUBLE PRECISION);
  CREATE INDEX recorded_key ON recorded (key);
  CREATE TABLE stock (product INTEGER PRIMARY KEY, remaining INTEGER);
  CREATE TABLE sale (delivery TEXT, product INTEGER);
`;

export const FILL_STOCK = Array.from(
  { length: PRODUCTS },
  (_, product) => `INSERT INTO stock VALUES (${product}, ${STOCK});`,
).join('\n');

/** The place where the handlers record their effects. */
export interface Effects {
  ran(run: HandlerRun): Promise<void>;
  recorded(key: string, handler: string, attempt: number, at: number): Promise<void>;
  /** Sells one piece, once for each delivery, in one transaction. Calls `within` before it commits a sale. */
  sell(event: SoldBy, product: number, within: () => void): Promise<void>;
}

/** The arguments of the ledger, and the id under which the sender knows the delivery. */
export interface SoldBy {
  readonly id: string;
  readonly key: string;
  readonly handler: string;
}

const RAN = 'INSERT INTO handler_run VALUES';
const RECORDED = 'INSERT INTO recorded VALUES';
const TAKE = 'UPDATE stock SET remaining = remaining - 1 WHERE product = ?';

/**
 * @param pool - The connections for the sales.
 * @param books - The connections for the records of what handlers and the store did.
 */
export function postgresEffects(pool: Pool, books: Pool, ledger: PostgresLedger): Effects {
  /** Runs a transaction on a connection without an error listener. */
  async function unheard(event: SoldBy, work: (tx: PoolClient) => Promise<void>) {
    const tx = await pool.connect();
    try {
      await tx.query('BEGIN');
      if (await ledger.once(tx, event)) await work(tx);
      await tx.query('COMMIT');
      tx.release();
    } catch (error) {
      tx.release(true);
      throw error;
    }
  }

  return {
    async ran({ delivery, key, handler, attempt, started }) {
      const values = [delivery, key, handler, attempt, process.pid, started];
      await books.query(`${RAN} ($1, $2, $3, $4, $5, $6)`, values);
    },
    async recorded(key, handler, attempt, at) {
      await books.query(`${RECORDED} ($1, $2, $3, $4)`, [key, handler, attempt, at]);
    },
    async sell(event, product, within) {
      const work = async (tx: PoolClient) => {
        await tx.query('UPDATE stock SET remaining = remaining - 1 WHERE product = $1', [product]);
        await tx.query('INSERT INTO sale VALUES ($1, $2)', [event.id, product]);
        within();
      };
      if (process.env.CHAOS_BREAK === 'tx-listener') await unheard(event, work);
      else await ledger.transaction(pool, perhapsAnother(event), work);
    },
  };
}

export function sqliteEffects(
  database: DatabaseSync,
  ledger: Pick<SqliteLedger, 'transaction'>,
): Effects {
  // Prepare a statement at its first use, because a process that only measures does not have these tables.
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const statement = (sql: string) => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  return {
    async ran({ delivery, key, handler, attempt, started }) {
      statement(`${RAN} (?, ?, ?, ?, ?, ?)`).run(
        delivery,
        key,
        handler,
        attempt,
        process.pid,
        started,
      );
    },
    async recorded(key, handler, attempt, at) {
      statement(`${RECORDED} (?, ?, ?, ?)`).run(key, handler, attempt, at);
    },
    async sell(event, product, within) {
      await ledger.transaction(database, perhapsAnother(event), () => {
        statement(TAKE).run(product);
        statement('INSERT INTO sale VALUES (?, ?)').run(event.id, product);
        within();
      });
    },
  };
}
