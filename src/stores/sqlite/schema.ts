import { BESIDE, checkLayout, LAYOUT } from '../layout-version.js';
import { Row } from './rows.js';

/** One row for each delivery and each effect of `oncePer`. Times are milliseconds since 1970. */
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
  `CREATE INDEX IF NOT EXISTS webhook_delivery_open ON webhook_delivery (state, key) WHERE state <> 'done';`,
  'CREATE INDEX IF NOT EXISTS webhook_delivery_purge ON webhook_delivery (purge_at);',
];

export const EFFECT = `CREATE TABLE IF NOT EXISTS webhook_effect (
  key TEXT NOT NULL,
  handler TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (key, handler)
) WITHOUT ROWID;`;

/** The layouts that the tables have had: see LAYOUT. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS webhook_schema (
  layout INTEGER PRIMARY KEY,
  beside INTEGER NOT NULL
);`;

const TABLES = [...DELIVERY, EFFECT, SCHEMA];

/** What tables of an earlier layout lack. SQL has no condition for it: it fails where it is there. */
const NEWER = [
  'ALTER TABLE webhook_delivery ADD COLUMN proof TEXT;',
  'ALTER TABLE webhook_delivery ADD COLUMN renewed INTEGER NOT NULL DEFAULT 0;',
];

/** Finds the row that {@link updatesFrom} reads, or nothing. */
export const FIND_LAYOUT = 'SELECT layout, beside FROM webhook_schema ORDER BY layout DESC LIMIT 1';

/**
 * The statements that bring tables up to date, one by one, where {@link isThereByNow} is no error; none
 * where they are. Each may be run while processes of an earlier version go on.
 *
 * @param row - What FIND_LAYOUT has found.
 * @throws {WebhookError} `schema_newer`
 */
export function updatesFrom(row: unknown, where: string): readonly string[] {
  // Drivers give undefined or null where there is none.
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

/** All of {@link updatesFrom}, for where an error says that something has gone after all. */
export function remedyFor(error: unknown): readonly string[] {
  const isMissing =
    error instanceof Error &&
    /no such table: (?:main\.)?webhook_(?:delivery|effect|schema)|no such column: (?:\w+\.)?(?:proof|renewed)|table (?:webhook_delivery|d) has no column named (?:proof|renewed)/.test(
      error.message,
    );
  return isMissing ? UPDATES : [];
}

/** Whether somebody else has made what was missing in between, or it had been there. */
export function isThereByNow(error: unknown): boolean {
  return error instanceof Error && /duplicate column name/.test(error.message);
}

/**
 * The tables of {@link sqliteStore} and {@link sqliteLedger}, for those who run migrations themselves.
 * It may be run again. Both make what is missing without it; also the columns that a table of an earlier
 * version lacks.
 *
 * @example
 * import Database from 'libsql';
 *
 * new Database('shop.db').exec(sqliteSchema());
 */
export function sqliteSchema(): string {
  return `${TABLES.join('\n')}\n`;
}
