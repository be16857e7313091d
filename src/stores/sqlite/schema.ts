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

/** What a table of an earlier version lacks. SQL has no condition for it: it fails where it is there. */
const NEWER = ['ALTER TABLE webhook_delivery ADD COLUMN proof TEXT;'];

/** The statements that make what an error says is missing; none where it says something else. */
export function remedyFor(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  if (/no such table: (?:main\.)?webhook_(?:delivery|effect)/.test(error.message))
    return [...DELIVERY, EFFECT];
  const lacksColumn =
    /no such column: (?:\w+\.)?proof|table (?:webhook_delivery|d) has no column named proof/;
  return lacksColumn.test(error.message) ? NEWER : [];
}

/** Whether somebody else has made what was missing in between. */
export function isThereByNow(error: unknown): boolean {
  return error instanceof Error && /duplicate column name/.test(error.message);
}

/**
 * The tables of {@link sqliteStore} and {@link sqliteLedger}, for those who run migrations themselves.
 * It may be run again. Both make what is missing without it; also the column that a table of an earlier
 * version lacks, which is `ALTER TABLE webhook_delivery ADD COLUMN proof TEXT` in a migration of yours.
 */
export function sqliteSchema(): string {
  return `${[...DELIVERY, EFFECT].join('\n')}\n`;
}
