import { WebhookError } from '../../errors/errors.js';
import { withTimeout } from '../../runtime/timing.js';
import { BESIDE, checkLayout, LAYOUT } from '../layout-version.js';
import { optionOf } from '../size-limits.js';
import { type Query, type Row, sqlState } from './client.js';
import { checkConnected, DURABILITY, warnOfClient, warnOfServer } from './preconditions.js';
import { checkProbe, PROBE } from './probe.js';

// Vacuumed often: a completed delivery leaves its dead body behind, which is larger than its row.
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
  handlers jsonb NOT NULL DEFAULT '{}',
  error text,
  body bytea,
  proof text,
  renewed boolean NOT NULL DEFAULT false
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX IF NOT EXISTS webhook_delivery_purge_at ON webhook_delivery (purge_at);
CREATE INDEX IF NOT EXISTS webhook_delivery_unfinished ON webhook_delivery (state, key) WHERE body IS NOT NULL;
CREATE TABLE IF NOT EXISTS webhook_effect (
  key bytea NOT NULL,
  handler text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (key, handler)
);
`;

// For tables of an earlier layout. The changes lock the tables exclusively, for a moment. The layout is recorded
// in a comment, which every role can read.
const NEWER = `
ALTER TABLE webhook_delivery ADD COLUMN IF NOT EXISTS proof text;
ALTER TABLE webhook_delivery ADD COLUMN IF NOT EXISTS renewed boolean NOT NULL DEFAULT false;
DROP INDEX IF EXISTS webhook_delivery_open;
COMMENT ON TABLE webhook_delivery IS 'storefront-webhooks, layout ${LAYOUT}, beside ${BESIDE}';
COMMENT ON TABLE webhook_effect IS 'storefront-webhooks, layout ${LAYOUT}, beside ${BESIDE}';`;

const comment = (table: string) => `obj_description(to_regclass('${table}'), 'pg_class')`;
/** The layout of tables without a recorded one. */
const UNRECORDED = 1;
/** The oldest layout that has all columns of the statements. Later layouts only make the statements faster. */
const NEEDED = 2;

// Two processes that create a table at once would collide, in spite of IF NOT EXISTS. The number of the lock is
// this library's own.
const CREATE = `
DO $schema$ BEGIN
PERFORM pg_advisory_xact_lock(7166013302);
PERFORM set_config('client_min_messages', 'warning', true);
${TABLES}
IF coalesce(substring(${comment('webhook_delivery')} from 'layout (\\d+)')::int, ${UNRECORDED}) < ${LAYOUT} THEN
${NEWER}
END IF;
END $schema$`;

/** Finds the tables of the store, and their layout. The first statement that a client runs, so it probes the client. */
const LOOK = `
SELECT ${PROBE}, ${comment('webhook_delivery')} AS layout, (to_regclass('webhook_delivery') IS NOT NULL
  AND to_regclass('webhook_effect') IS NOT NULL)::text AS found, ${DURABILITY}`;

/** Finds the table of a ledger, whose role may have no rights to the other one. */
export const LOOK_FOR_EFFECTS = `
SELECT ${PROBE}, ${comment('webhook_effect')} AS layout, (to_regclass('webhook_effect') IS NOT NULL)::text AS found`;

/**
 * Returns the SQL of the two tables, `webhook_delivery` and `webhook_effect`, for your own migrations. It can run
 * repeatedly, and brings tables of an earlier version up to date. Without it, the store and the ledger create or
 * update the tables at first use.
 *
 * @example
 * await pool.query(postgresSchema());
 */
export function postgresSchema(): string {
  return `${TABLES.trimStart()}${NEWER.trimStart()}\n`;
}

/** Makes sure, once, that the client can be used and that the tables exist. */
export class Schema {
  readonly #query: Query;
  readonly #client: unknown;
  #ready: Promise<unknown> | undefined;

  constructor(query: Query, client: unknown) {
    this.#query = query;
    this.#client = client;
  }

  /**
   * @throws {UsageError} `client_invalid`
   * @throws {WebhookError} `schema_missing`
   */
  ready(): Promise<unknown> {
    this.#ready ??= withTimeout(this.#setUp(), 'PostgreSQL').catch((error) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #setUp(): Promise<void> {
    checkConnected(this.#client);
    warnOfClient(this.#client);
    // A PGlite has no server.
    const isServer = optionOf(this.#client, 'waitReady') === undefined;
    await makeTables(this.#query, LOOK, isServer ? warnOfServer : undefined);
  }

  /** Makes the next {@link ready} look for the tables again if an error says that they are gone. */
  check(error: unknown): void {
    if (isUndefined(error)) this.#ready = undefined;
  }
}

/**
 * Creates the tables, or updates tables of an earlier layout, if necessary.
 *
 * @param look - The statement that finds the needed tables.
 * @param onLooked - Gets the row of that statement.
 * @returns Whether the tables existed. If not, a rollback of the caller's transaction removes them again.
 * @throws {UsageError} `client_invalid`
 * @throws {WebhookError} `schema_missing` or `schema_newer`
 */
export async function makeTables(
  query: Query,
  look = LOOK,
  onLooked?: (row: Row) => void,
): Promise<boolean> {
  // Look first: a role without the right to create tables can still use them.
  const [row] = await query(look);
  const looked = checkProbe(row);
  onLooked?.(looked);
  const found = looked.text('found') === 'true';
  const recorded = /layout (\d+), beside (\d+)/.exec(looked.maybe('layout') ?? '');
  const layout = recorded ? Number(recorded[1]) : UNRECORDED;
  if (recorded) checkLayout({ layout, beside: Number(recorded[2]) }, 'PostgreSQL');
  // The table of effects has never changed.
  if (found && (layout >= LAYOUT || look === LOOK_FOR_EFFECTS)) return true;
  try {
    await query(CREATE);
    return false;
  } catch (cause) {
    if (found && layout >= NEEDED) return true;
    throw new WebhookError(
      'schema_missing',
      'The tables webhook_delivery and webhook_effect are missing or of an earlier version, and could not ' +
        'be created or changed. Run the SQL of postgresSchema() with a role that can create tables.',
      { cause },
    );
  }
}

/** Returns whether an error says that the tables are gone, or that earlier ones were restored. */
export function isUndefined(error: unknown): boolean {
  return ['42P01', '42703'].includes(sqlState(error) ?? '');
}
