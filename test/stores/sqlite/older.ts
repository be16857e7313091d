import { sqliteSchema } from 'storefront-webhooks/sqlite';

/** The tables of layout 1, which have no column for a proof. */
export const OLDER_SCHEMA = sqliteSchema()
  .replace('  proof TEXT,\n', '')
  .replace('  renewed INTEGER NOT NULL DEFAULT 0,\n', '')
  .replace(/CREATE TABLE IF NOT EXISTS webhook_schema[^;]*;\n/, '');

/** The statements of the previous version, which does not know proofs. */
export const olderClaim = (key: string) => `INSERT INTO webhook_delivery
  (key, scope, delivery_id, event, received_at, body, state, owner, fence, not_before, purge_at)
  VALUES ('${key}', 'shop', 'whl_1', 'order:paid', 0, x'7b7d', 'retry', '', 1, 0, 9e15)`;

export const olderComplete = (key: string) => `UPDATE webhook_delivery
  SET state = 'done', purge_at = 9e15, owner = '', body = NULL, handlers = '{}', error = NULL
  WHERE key = '${key}'`;
