import { UsageError } from '../../errors/errors.js';
import { isBytes, TextDecoder } from '../../runtime/bytes.js';
import { SILENCE_MS } from '../guard.js';
import { hasMethods } from '../platform.js';
import { optionOf } from '../size-limits.js';
import { type Instead, refuseWrapper } from '../wrappers.js';
import { isPgClient, isPgPool, type Pg, queryTimeoutOfPool } from './limits.js';

/** A value of a statement: text or null. */
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
 * Runs one statement and returns its rows.
 *
 * @param name - The name under which the server may keep the statement prepared, if the client supports names.
 */
export type Query = (text: string, values?: Value[], name?: string) => Promise<readonly Row[]>;

const INSTEAD: Instead = {
  TypeORM: 'its pool of pg, dataSource.driver.master, after dataSource.initialize()',
  Drizzle: 'its client, db.$client',
  'pg-promise': 'its pool, db.$pool',
};

/**
 * Rejects an object of a library that is built on a driver.
 *
 * @throws {UsageError} `client_invalid`
 */
export function refuseWrappers(client: unknown, who: string): void {
  refuseWrapper(client, who, INSTEAD, 'a pool of its own: new pg.Pool({ … })');
}

/**
 * Wraps the client of any supported driver.
 *
 * @throws {UsageError} `client_invalid`
 */
export function toQuery(client: PostgresClient): Query {
  // The `unsafe` of Neon's sql runs nothing: Neon has `query` for that.
  if (hasMethods(client, 'unsafe') && !hasMethods(client, 'query')) {
    // If the driver is set never to prepare statements, it does not prepare them here either.
    return async (text, values) =>
      toRows(await client.unsafe(text, values, { prepare: values !== undefined }));
  }
  if (isPgPool(client) || isPgClient(client)) return throughPg(client);
  if (hasMethods(client, 'query')) {
    return async (text, values) => toRows(await client.query(text, values));
  }
  throw new UsageError('client_invalid', `The client of PostgreSQL has to be ${EXPECTED}.`);
}

/**
 * Queries through `pg`. A pool gets a time limit for each query, and discards a connection whose query times out.
 * A single client gets none, because the user's own transaction on it may wait for as long as it likes.
 */
function throughPg(client: Pg): Query {
  // A limit that the user has set takes precedence.
  const isLimited = !isPgPool(client) || queryTimeoutOfPool(client);
  const limit = isLimited ? {} : { query_timeout: SILENCE_MS };
  return async (text, values, name) =>
    toRows(
      await client.query({ text, ...(values && { values }), ...(name && { name }), ...limit }),
    );
}

const EXPECTED =
  'a Pool or Client of pg, the `sql` of postgres.js, a PGlite, or a transaction of one of them';

/**
 * Returns the rows of an answer in any form that can be read: a result with its rows, the rows themselves, rows as
 * arrays beside the names of their columns, or rows beside their number, as TypeORM returns them.
 */
export function toRows(answer: unknown): readonly Row[] {
  const rows = optionOf(answer, 'rows') ?? answer;
  if (!Array.isArray(rows)) {
    throw new UsageError('client_invalid', `The client returned no rows. Pass ${EXPECTED}.`);
  }
  const [first, second] = rows;
  if (!Array.isArray(first)) return rows.map((row) => new Row(row));
  const fields = optionOf(answer, 'fields');
  if (Array.isArray(fields)) return rows.map((row) => new Row(toColumns(row, fields)));
  return (typeof second === 'number' ? first : rows).map((row) => new Row(row));
}

function toColumns(row: unknown, fields: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((field, at) => [`${optionOf(field, 'name')}`, optionOf(row, `${at}`)]),
  );
}

/** A row whose columns are all text, because users can change how a driver reads other types. */
export class Row {
  readonly #columns: Record<string, unknown>;

  constructor(columns: unknown) {
    this.#columns = isObject(columns) ? columns : {};
  }

  get names(): readonly string[] {
    return Object.keys(this.#columns);
  }

  text(column: string): string {
    const text = this.maybe(column);
    if (text === undefined) throw new Error(`PostgreSQL returned no text in the column ${column}.`);
    return text;
  }

  maybe(column: string): string | undefined {
    const value = this.#columns[column];
    if (typeof value === 'string') return value;
    // Users can have a driver return bytes for texts.
    return isBytes(value) ? new TextDecoder().decode(value) : undefined;
  }

  number(column: string): number {
    return Number(this.text(column));
  }
}

// The one of the schemas would also load zod.
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Returns the SQLSTATE of an error of any driver. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/**
 * Returns whether a pooler broke a prepared statement, which then is missing or exists already, and did not run.
 */
export function isUnprepared(error: unknown): boolean {
  return ['26000', '42P05'].includes(sqlState(error) ?? '');
}
