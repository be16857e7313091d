// The statements of the ledger. Each parameter is text and is cast here, as in statements.ts.

/** $1 any text. Sets it for the current transaction only. */
export const MARK_TRANSACTION = `
SELECT set_config('storefront_webhooks.effect', $1::text, true) AS mark`;

/** Returns the mark; empty if the transaction has ended. */
export const FIND_MARK = `
SELECT coalesce(current_setting('storefront_webhooks.effect', true), '') AS mark`;

/** $1 keys, as JSON. Returns the keys that have an effect. */
export const FIND_EFFECTS = `
SELECT DISTINCT encode(key, 'hex') AS key FROM webhook_effect
WHERE key IN (SELECT decode(asked, 'hex') FROM json_array_elements_text($1::text::json) AS asked)`;

/** $1 key, $2 handler, $3 the mark of the transaction. Enters nothing if the mark is missing. */
export const ENTER_EFFECT = `
WITH here AS (
  SELECT coalesce(current_setting('storefront_webhooks.effect', true), '') = $3::text AS inside
), entered AS (
  INSERT INTO webhook_effect (key, handler)
  SELECT decode($1::text, 'hex'), $2::text FROM here WHERE inside
  ON CONFLICT DO NOTHING RETURNING 1
)
SELECT CASE WHEN NOT inside THEN 'outside' WHEN EXISTS (SELECT 1 FROM entered) THEN 'entered'
  ELSE 'known' END AS state FROM here`;
