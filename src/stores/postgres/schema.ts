import { WebhookError } from '../../errors.js';
import { inTime } from '../../in-time.js';
import { type Query, sqlState } from './client.js';

// Vacuumed often: a delivery leaves its body behind when it is done, which takes more room than its row.
const TABLES = `
CREATE TABLE IF NOT EXISTS webhook_delivery (
  key bytea PRIMARY KEY,
  scope text NOT NULL,
  id text NOT NULL,
  event text NOT NULL,
  received_at timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('leased', 'retry', 'done', 'dead')),
  fence bigint NOT NULL,
  attempts integer NOT NULL,
  failures integer NOT NULL,
  not_before timestamptz NOT NULL,
  purge_at timestamptz NOT NULL,
  owner text,
  lease_ms double precision,
  max_crashes double precision,
  handlers jsonb NOT NULL DEFAULT '{}',
  error text,
  body bytea
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX IF NOT EXISTS webhook_delivery_purge_at ON webhook_delivery (purge_at);
CREATE INDEX IF NOT EXISTS webhook_delivery_open ON webhook_delivery (state, key) WHERE state <> 'done';
CREATE TABLE IF NOT EXISTS webhook_effect (
  key bytea NOT NULL,
  handler text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (key, handler)
);
`;

// Two who create a table at once would collide, in spite of IF NOT EXISTS. The number is this library's own.
const CREATE = `
DO $schema$ BEGIN
PERFORM pg_advisory_xact_lock(7166013302);
PERFORM set_config('client_min_messages', 'warning', true);
${TABLES}
END $schema$`;

const LOOK = `
SELECT 'yes' AS found
WHERE to_regclass('webhook_delivery') IS NOT NULL AND to_regclass('webhook_effect') IS NOT NULL`;

/**
 * The SQL of the two tables, `webhook_delivery` and `webhook_effect`, for those who run their migrations
 * themselves. It may be run again. Without it, the store and the ledger create them at first use.
 *
 * @example
 * await pool.query(postgresSchema());
 */
export function postgresSchema(): string {
  return TABLES.trimStart();
}

/** Sees to it, once, that the tables are there. */
export class Schema {
  readonly #query: Query;
  #ready: Promise<unknown> | undefined;

  constructor(query: Query) {
    this.#query = query;
  }

  /** @throws {WebhookError} `schema_missing` */
  ready(): Promise<unknown> {
    this.#ready ??= inTime(makeTables(this.#query), 'PostgreSQL').catch((error) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Has the tables looked for again where an error says that they have gone. */
  check(error: unknown): void {
    if (isUndefinedTable(error)) this.#ready = undefined;
  }
}

/**
 * Makes the tables, unless they are there.
 *
 * @returns Whether they were there: what is made in a transaction may be undone with it.
 */
export async function makeTables(query: Query): Promise<boolean> {
  // Looked for first: whoever may not create tables may still use them.
  if ((await query(LOOK)).length > 0) return true;
  try {
    await query(CREATE);
    return false;
  } catch (cause) {
    throw new WebhookError(
      'schema_missing',
      'The tables webhook_delivery and webhook_effect are missing and could not be created. Run the ' +
        'SQL that postgresSchema() gives as a role that may create tables.',
      { cause },
    );
  }
}

/** Whether an error says that the tables have gone. */
export function isUndefinedTable(error: unknown): boolean {
  return sqlState(error) === '42P01';
}
