import { BESIDE, checkLayout, LAYOUT } from '../layout-version.js';
import { Row } from './rows.js';

/** The table of deliveries, and of effects of `oncePer`. Times are milliseconds since 1970. */
export const DELIVERY = [
  `CREATE TABLE IF NOT EXISTS webhook_delivery (
  key TEXT PRIMARY KEY,
  scope TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  event TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  body BLOB,
  proof TEXT,
  state TEXT NOT NULL CHECK (state IN ('leased', 'retry', 'done', 'dead')),
  owner TEXT NOT NULL,
  fence INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 1,
  failures INTEGER NOT NULL DEFAULT 0,
  renewed INTEGER NOT NULL DEFAULT 0,
  handlers TEXT NOT NULL DEFAULT '{}',
  not_before INTEGER NOT NULL,
  error TEXT,
  purge_at INTEGER
);`,
  'CREATE INDEX IF NOT EXISTS webhook_delivery_unfinished ON webhook_delivery (state, key) WHERE body IS NOT NULL;',
  'CREATE INDEX IF NOT EXISTS webhook_delivery_purge ON webhook_delivery (purge_at);',
];

export const EFFECT = `CREATE TABLE IF NOT EXISTS webhook_effect (
  key TEXT NOT NULL,
  handler TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (key, handler)
) WITHOUT ROWID;`;

/** The table that records the layouts of the tables: see LAYOUT. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS webhook_schema (
  layout INTEGER PRIMARY KEY,
  beside INTEGER NOT NULL
);`;

const TABLES = [...DELIVERY, EFFECT, SCHEMA];

/**
 * The changes for tables of an earlier layout. SQLite cannot add a column conditionally, so a statement fails if
 * its column exists.
 */
const NEWER = [
  'ALTER TABLE webhook_delivery ADD COLUMN proof TEXT;',
  'ALTER TABLE webhook_delivery ADD COLUMN renewed INTEGER NOT NULL DEFAULT 0;',
  'DROP INDEX IF EXISTS webhook_delivery_open;',
];

/** Finds the row that {@link updatesFrom} reads, if there is one. */
export const FIND_LAYOUT = 'SELECT layout, beside FROM webhook_schema ORDER BY layout DESC LIMIT 1';

/**
 * Returns the statements that bring tables up to date; none if the tables are up to date. Run them one by one, and
 * ignore errors of {@link isThereByNow}. Processes of an earlier version can keep running.
 *
 * @param row - The row of FIND_LAYOUT.
 * @throws {WebhookError} `schema_newer`
 */
export function updatesFrom(row: unknown, where: string): readonly string[] {
  // Drivers return undefined or null if there is no row.
  if (!row) return UPDATES;
  const found = new Row(row);
  const layout = found.number('layout');
  checkLayout({ layout, beside: found.number('beside') }, where);
  return layout >= LAYOUT ? [] : UPDATES;
}

const UPDATES = [
  ...TABLES,
  ...NEWER,
  `INSERT OR IGNORE INTO webhook_schema (layout, beside) VALUES (${LAYOUT}, ${BESIDE});`,
];

/** Returns the statements of {@link updatesFrom} if an error says that a table or column is missing. */
export function remedyFor(error: unknown): readonly string[] {
  const isMissing =
    error instanceof Error &&
    /no such table: (?:main\.)?webhook_(?:delivery|effect|schema)|no such column: (?:\w+\.)?(?:proof|renewed)|table (?:webhook_delivery|d) has no column named (?:proof|renewed)/.test(
      error.message,
    );
  return isMissing ? UPDATES : [];
}

/** Returns whether an error only says that the column to add exists already. */
export function isThereByNow(error: unknown): boolean {
  return error instanceof Error && /duplicate column name/.test(error.message);
}

/**
 * Returns the SQL of the tables of {@link sqliteStore} and {@link sqliteLedger}, for your own migrations. It can
 * run repeatedly. Without it, the store and the ledger create missing tables themselves, and add the columns that
 * a table of an earlier version lacks.
 *
 * @example
 * import Database from 'libsql';
 *
 * new Database('shop.db').exec(sqliteSchema());
 */
export function sqliteSchema(): string {
  return `${TABLES.join('\n')}\n`;
}
