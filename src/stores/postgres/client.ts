import { UsageError } from '../../errors.js';
import { hasMethods } from '../methods.js';
import { SILENCE_MS } from '../silence.js';
import { isPgClient, isPgPool, type Pg, queryTimeoutOfPool } from './limits.js';

/** What a statement is given: text, or nothing. */
export type Value = string | null;

/**
 * A client of PostgreSQL: a pool or a client of `pg`, the `sql` of postgres.js, a PGlite, or a
 * transaction of one of them.
 */
export type PostgresClient =
  | { query(text: string, values?: Value[]): Promise<{ readonly rows: unknown[] }> }
  | {
      unsafe(
        text: string,
        values?: Value[],
        options?: { prepare?: boolean },
      ): PromiseLike<readonly unknown[]>;
    };

/**
 * Runs one statement and gives its rows.
 *
 * @param name - Of a statement that the server may keep prepared, where the client can name it.
 */
export type Query = (text: string, values?: Value[], name?: string) => Promise<readonly Row[]>;

/**
 * Brings the clients of several drivers to one shape.
 *
 * @throws {UsageError} `client_invalid`
 */
export function toQuery(client: PostgresClient): Query {
  if (hasMethods(client, 'unsafe')) {
    // A driver that has been told never to prepare statements does not do it here, either.
    return async (text, values) =>
      toRows(await client.unsafe(text, values, { prepare: values !== undefined }));
  }
  if (isPgPool(client) || isPgClient(client)) return throughPg(client);
  if (hasMethods(client, 'query')) {
    return async (text, values) => toRows((await client.query(text, values))?.rows);
  }
  throw new UsageError('client_invalid', `PostgreSQL is reached through ${EXPECTED}.`);
}

/**
 * Through a pool of `pg`, which throws a connection away on which a query has run out of time. Not so
 * through one connection of it: there, the transaction of somebody else may wait for as long as it likes.
 */
function throughPg(client: Pg): Query {
  // Where its user has set one, that one counts.
  const isLimited = !isPgPool(client) || queryTimeoutOfPool(client);
  const limit = isLimited ? {} : { query_timeout: SILENCE_MS };
  return async (text, values, name) =>
    toRows(
      (await client.query({ text, ...(values && { values }), ...(name && { name }), ...limit }))
        ?.rows,
    );
}

const EXPECTED =
  'a Pool or Client of pg, the `sql` of postgres.js, a PGlite, or a transaction of one of them';

function toRows(rows: unknown): readonly Row[] {
  if (Array.isArray(rows)) return rows.map((row) => new Row(row));
  throw new UsageError('client_invalid', `The client gave no rows. Pass ${EXPECTED}.`);
}

/** A row whose columns are all text: how a driver reads other types is its user's choice. */
export class Row {
  readonly #columns: Record<string, unknown>;

  constructor(columns: unknown) {
    this.#columns = isObject(columns) ? columns : {};
  }

  text(column: string): string {
    const text = this.maybe(column);
    if (text === undefined) throw new Error(`PostgreSQL gave no text in the column ${column}.`);
    return text;
  }

  maybe(column: string): string | undefined {
    const value = this.#columns[column];
    return typeof value === 'string' ? value : undefined;
  }

  number(column: string): number {
    return Number(this.text(column));
  }
}

// Not the one of the schemas, with which zod would be loaded.
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The SQLSTATE of an error, in whichever driver. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
