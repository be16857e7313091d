import { WebhookError } from '../../errors.js';
import { withTimeout } from '../../timing.js';
import { BESIDE, checkLayout, LAYOUT } from '../layout-version.js';
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
  handlers jsonb NOT NULL DEFAULT '{}',
  error text,
  body bytea,
  proof text,
  renewed boolean NOT NULL DEFAULT false
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

// For tables of an earlier layout. It needs them for itself, if only for a moment. What is recorded of the
// layout is a comment, which everybody may read.
const NEWER = `
ALTER TABLE webhook_delivery ADD COLUMN IF NOT EXISTS proof text;
ALTER TABLE webhook_delivery ADD COLUMN IF NOT EXISTS renewed boolean NOT NULL DEFAULT false;
COMMENT ON TABLE webhook_delivery IS 'storefront-webhooks, layout ${LAYOUT}, beside ${BESIDE}';
COMMENT ON TABLE webhook_effect IS 'storefront-webhooks, layout ${LAYOUT}, beside ${BESIDE}';`;

const comment = (table: string) => `obj_description(to_regclass('${table}'), 'pg_class')`;
/** How old a layout is of which nothing is recorded. */
const UNRECORDED = 1;

// Two who create a table at once would collide, in spite of IF NOT EXISTS. The number is this library's own.
const CREATE = `
DO $schema$ BEGIN
PERFORM pg_advisory_xact_lock(7166013302);
PERFORM set_config('client_min_messages', 'warning', true);
${TABLES}
IF coalesce(substring(${comment('webhook_delivery')} from 'layout (\\d+)')::int, ${UNRECORDED}) < ${LAYOUT} THEN
${NEWER}
END IF;
END $schema$`;

/** Finds what the store needs, and the layout of it. */
const LOOK = `
SELECT ${comment('webhook_delivery')} AS layout WHERE to_regclass('webhook_delivery') IS NOT NULL
  AND to_regclass('webhook_effect') IS NOT NULL`;

/** Finds what a ledger needs, which may be all that its role has rights to. */
export const LOOK_FOR_EFFECTS = `
SELECT ${comment('webhook_effect')} AS layout WHERE to_regclass('webhook_effect') IS NOT NULL`;

/**
 * The SQL of the two tables, `webhook_delivery` and `webhook_effect`, for those who run their migrations
 * themselves. It may be run again, which brings a table of an earlier version up to date. Without it, the
 * store and the ledger create them at first use, or add what is missing.
 *
 * @example
 * await pool.query(postgresSchema());
 */
export function postgresSchema(): string {
  return `${TABLES.trimStart()}${NEWER.trimStart()}\n`;
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
    this.#ready ??= withTimeout(makeTables(this.#query), 'PostgreSQL').catch((error) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Has the tables looked for again where an error says that they have gone. */
  check(error: unknown): void {
    if (isUndefined(error)) this.#ready = undefined;
  }
}

/**
 * Makes the tables, or what those of an earlier layout lack, unless all is there.
 *
 * @param look - Finds what is needed.
 * @returns Whether they were there: what is made in a transaction may be undone with it.
 * @throws {WebhookError} `schema_missing` or `schema_newer`
 */
export async function makeTables(query: Query, look = LOOK): Promise<boolean> {
  // Looked for first: whoever may not create tables may still use them.
  const [found] = await query(look);
  const recorded = /layout (\d+), beside (\d+)/.exec(found?.maybe('layout') ?? '');
  const layout = recorded ? Number(recorded[1]) : UNRECORDED;
  if (recorded) checkLayout({ layout, beside: Number(recorded[2]) }, 'PostgreSQL');
  // What effects are entered in has never changed.
  if (found && (layout >= LAYOUT || look === LOOK_FOR_EFFECTS)) return true;
  try {
    await query(CREATE);
    return false;
  } catch (cause) {
    throw new WebhookError(
      'schema_missing',
      'The tables webhook_delivery and webhook_effect are missing or of an earlier version, and could not ' +
        'be created or changed. Run the SQL that postgresSchema() gives as a role that may do so.',
      { cause },
    );
  }
}

/** Whether an error says that the tables have gone, or that earlier ones have been put back. */
export function isUndefined(error: unknown): boolean {
  return ['42P01', '42703'].includes(sqlState(error) ?? '');
}
