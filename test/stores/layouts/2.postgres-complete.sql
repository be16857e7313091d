WITH held AS (
  SELECT d.key, c.keep
  FROM webhook_delivery d
  JOIN json_to_recordset($1::text::json) AS c (key text, fence bigint, keep double precision)
    ON d.key = decode(c.key, 'hex') AND d.fence = c.fence
  WHERE d.state IN ('leased', 'done')
  ORDER BY d.key
  FOR UPDATE OF d
)
UPDATE webhook_delivery d SET state = 'done',
  purge_at = greatest(d.purge_at, CASE WHEN held.keep > 1e14 THEN 'infinity' ELSE clock_timestamp() + (held.keep) * interval '1 millisecond' END),
  owner = NULL, lease_ms = NULL, max_crashes = NULL, handlers = '{}', error = NULL, body = NULL,
  proof = NULL
FROM held
WHERE d.key = held.key
RETURNING encode(d.key, 'hex') AS key
