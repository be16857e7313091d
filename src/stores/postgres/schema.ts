import { WebhookError } from '../../errors/errors.js';
import { withTimeout } from '../../runtime/timing.js';
import { BESIDE, checkLayout, LAYOUT } from '../layout-version.js';
import { optionOf } from '../size-limits.js';
import { type Query, type Row, sqlState } from './client.js';
import { checkConnected, DURABILITY, warnOfClient, warnOfServer } from './preconditions.js';
import { checkProbe, PROBE } from './probe.js';
import { PASSING } from './retry.js';

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
// in a comment, which every role can read. Only processes of version 0.1.0 write `lease_ms` and `max_crashes`: beside
// this version, or after a rollback.
const NEWER = `
ALTER TABLE webhook_delivery ADD COLUMN IF NOT EXISTS proof text;
ALTER TABLE webhook_delivery ADD COLUMN IF NOT EXISTS renewed boolean NOT NULL DEFAULT false;
ALTER TABLE webhook_delivery ADD COLUMN IF NOT EXISTS lease_ms double precision;
ALTER TABLE webhook_delivery ADD COLUMN IF NOT EXISTS max_crashes double precision;
DROP INDEX IF EXISTS webhook_delivery_open;
COMMENT ON TABLE webhook_delivery IS 'storefront-webhooks, layout ${LAYOUT}, beside ${BESIDE}';
COMMENT ON TABLE webhook_effect IS 'storefront-webhooks, layout ${LAYOUT}, beside ${BESIDE}';`;

const comment = (table: string) => `obj_description(to_regclass('${table}'), 'pg_class')`;
/** The layout of tables without a recorded one. */
const UNRECORDED = 1;
/** The oldest layout that has all columns of the statements. Later layouts only make the statements faster. */
const NEEDED = 2;

/** The number of the lock is this library's own. */
const OWN_LOCK = '7166013302';

/**
 * Every statement on a table queues behind one that waits for its exclusive lock, and a backup can keep that one
 * waiting for hours. So it gives up soon. The transaction may be the user's, who gets the old limit back.
 *
 * A session remembers which tables were missing, and only locking another table makes it look again. So it reads
 * `pg_class` after the lock. Otherwise it would change tables that another process has made meanwhile, and could deadlock
 * with the claims of that process.
 *
 * @param limit - How long it waits for a table.
 * @param lock - Keeps other processes from the tables. Two that create a table at once would collide, in spite of
 *   IF NOT EXISTS.
 */
const create = (lock: string, limit: string) => `
DO $schema$
DECLARE own_limit text := current_setting('lock_timeout');
BEGIN
PERFORM set_config('client_min_messages', 'warning', true);
PERFORM set_config('lock_timeout', '4s', true);
${lock}
PERFORM FROM pg_class LIMIT 1;
IF coalesce(substring(${comment('webhook_delivery')} from 'layout (\\d+)')::int, ${UNRECORDED}) < ${LAYOUT}
  OR to_regclass('webhook_effect') IS NULL THEN
PERFORM set_config('lock_timeout', '${limit}', true);
${TABLES}
${NEWER}
END IF;
PERFORM set_config('lock_timeout', own_limit, true);
END $schema$`;
const CREATE = create(`PERFORM pg_advisory_xact_lock(${OWN_LOCK});`, '500ms');
/** For tables that can be used as they are. Of several processes, only one tries. */
const IMPROVE = create(
  `IF NOT pg_try_advisory_xact_lock(${OWN_LOCK}) THEN
RAISE 'another process is changing the tables' USING ERRCODE = 'lock_not_available';
END IF;`,
  '50ms',
);

/**
 * The shortest and the longest time after which a process tries {@link IMPROVE} again. Each try keeps the statements of all
 * processes waiting, so many processes must not add up to a stall.
 */
const IMPROVE_AGAIN_MS = [600_000, 1_800_000] as const;
/** The same for {@link CREATE}: processes of an earlier version work on meanwhile, and each try keeps them waiting. */
const CREATE_AGAIN_MS = 5_000;

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
  /** When to look at the tables again, because another session held a lock on them. */
  #againAt = Number.POSITIVE_INFINITY;

  /** @param query - Does not repeat a statement that had to wait for a lock. */
  constructor(query: Query, client: unknown) {
    this.#query = query;
    this.#client = client;
  }

  /**
   * @throws {UsageError} `client_invalid`
   * @throws {WebhookError} `schema_missing`; `store_unavailable` if another session holds a lock on earlier tables
   */
  ready(): Promise<unknown> {
    if (performance.now() >= this.#againAt) this.#ready = undefined;
    this.#ready ??= withTimeout(this.#setUp(), 'PostgreSQL').catch((error) => {
      if (isLocked(error)) this.#againAt = performance.now() + CREATE_AGAIN_MS;
      else this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #setUp(): Promise<void> {
    this.#againAt = Number.POSITIVE_INFINITY;
    checkConnected(this.#client);
    warnOfClient(this.#client);
    // A PGlite has no server.
    const isServer = optionOf(this.#client, 'waitReady') === undefined;
    const tables = await makeTables(this.#query, LOOK, isServer ? warnOfServer : undefined);
    const [least, most] = IMPROVE_AGAIN_MS;
    if (tables === 'locked')
      this.#againAt = performance.now() + least + Math.random() * (most - least);
  }

  /** Makes the next {@link ready} look for the tables again if an error says that they are gone. */
  check(error: unknown): void {
    if (isUndefined(error)) this.#ready = undefined;
  }
}

/**
 * How the tables were found. `made`: they were missing or of an earlier layout, so a rollback of the caller's
 * transaction undoes that. `locked`: they can be used, but another session kept this one from improving them.
 */
export type Tables = 'found' | 'made' | 'locked';

/**
 * Creates the tables, or updates tables of an earlier layout, if necessary.
 *
 * @param look - The statement that finds the needed tables.
 * @param onLooked - Gets the row of that statement.
 * @throws {UsageError} `client_invalid`
 * @throws {WebhookError} `schema_missing`, `schema_newer`, or `store_unavailable` if another session holds a lock
 */
export async function makeTables(
  query: Query,
  look = LOOK,
  onLooked?: (row: Row) => void,
): Promise<Tables> {
  // Look first: a role without the right to create tables can still use them.
  const [row] = await query(look);
  const looked = checkProbe(row);
  onLooked?.(looked);
  const found = looked.text('found') === 'true';
  const recorded = /layout (\d+), beside (\d+)/.exec(looked.maybe('layout') ?? '');
  const layout = recorded ? Number(recorded[1]) : UNRECORDED;
  if (recorded) checkLayout({ layout, beside: Number(recorded[2]) }, 'PostgreSQL');
  // The table of effects has never changed.
  if (found && (layout >= LAYOUT || look === LOOK_FOR_EFFECTS)) return 'found';
  const suffices = found && layout >= NEEDED;
  try {
    await query(suffices ? IMPROVE : CREATE);
    return 'made';
  } catch (cause) {
    const isPassing = PASSING.has(sqlState(cause) ?? '');
    if (suffices) return isPassing ? 'locked' : 'found';
    if (isPassing) {
      throw new WebhookError(
        'store_unavailable',
        'The tables webhook_delivery and webhook_effect are missing or of an earlier version, and could not be ' +
          'created or changed, because another session, such as a backup, holds a lock on them. The store tries ' +
          'again every few seconds.',
        { cause },
      );
    }
    throw new WebhookError(
      'schema_missing',
      'The tables webhook_delivery and webhook_effect are missing or of an earlier version, and could not ' +
        'be created or changed. Run the SQL of postgresSchema() with a role that can create tables.',
      { cause },
    );
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof WebhookError && error.code === 'store_unavailable';
}

/** Returns whether an error says that the tables are gone, or that earlier ones were restored. */
export function isUndefined(error: unknown): boolean {
  return ['42P01', '42703'].includes(sqlState(error) ?? '');
}
