INSERT INTO webhook_delivery AS d (key, scope, id, event, received_at, body, proof, state, fence,
  attempts, failures, owner, lease_ms, max_crashes, not_before, purge_at)
SELECT decode(c.key, 'hex'), c.scope, c.id, c.event, to_timestamp(c.received / 1000),
  decode(c.body, 'base64'), c.proof, 'leased', floor(extract(epoch FROM c.now) * 1000)::bigint, 1, 0, c.owner, c.lease, c.crashes,
  c.now + (c.lease) * interval '1 millisecond', CASE WHEN c.keep > 1e14 THEN 'infinity' ELSE c.now + (c.keep) * interval '1 millisecond' END
FROM (
  SELECT *, clock_timestamp() AS now FROM json_to_recordset($1::text::json) AS claim (
    key text, scope text, id text, event text, received double precision, body text, proof text, owner text,
    lease double precision, keep double precision, crashes double precision)
) c
ORDER BY c.key COLLATE "C"
ON CONFLICT (key) DO UPDATE SET (scope, id, event, received_at, body, proof, purge_at, handlers, failures,
  attempts, renewed, state, owner, fence, lease_ms, max_crashes, not_before, error) = (
  SELECT
    CASE WHEN again THEN excluded.scope ELSE d.scope END,
    CASE WHEN again THEN excluded.id ELSE d.id END,
    CASE WHEN again THEN excluded.event ELSE d.event END,
    CASE WHEN again THEN excluded.received_at ELSE d.received_at END,
    CASE WHEN again THEN excluded.body ELSE d.body END,
    CASE WHEN again THEN excluded.proof ELSE d.proof END,
    CASE WHEN again THEN excluded.purge_at WHEN poison
      THEN greatest(d.purge_at, now + (2592000000) * interval '1 millisecond')
      WHEN taken THEN greatest(d.purge_at, excluded.purge_at) ELSE d.purge_at END,
    d.handlers,
    CASE WHEN again THEN 0 ELSE d.failures END,
    CASE WHEN again THEN 1 WHEN taken AND counts THEN d.attempts + 1 ELSE d.attempts END,
    d.renewed AND NOT taken,
    CASE WHEN poison THEN 'dead' WHEN taken THEN 'leased' ELSE d.state END,
    CASE WHEN taken THEN excluded.owner ELSE d.owner END,
    CASE WHEN free THEN greatest(d.fence + 1, floor(extract(epoch FROM now) * 1000)::bigint) ELSE d.fence END,
    CASE WHEN taken OR mine THEN excluded.lease_ms ELSE d.lease_ms END,
    CASE WHEN taken OR mine THEN excluded.max_crashes ELSE d.max_crashes END,
    CASE WHEN taken OR mine THEN now + (excluded.lease_ms) * interval '1 millisecond' ELSE d.not_before END,
    CASE WHEN poison THEN $2::text ELSE d.error END
  FROM (
    SELECT now, again, mine, counts, free, free AND dying AS poison, free AND NOT dying AS taken
    FROM (
      SELECT now, again, mine, counts, again OR (due AND NOT mine) AS free,
        d.state = 'leased' AND counts AND d.attempts - d.failures >= excluded.max_crashes AS dying
      FROM (
        SELECT now, d.state = 'done' AND d.purge_at <= now AS again,
          d.state = 'leased' AND d.owner = excluded.owner AS mine,
          d.state IN ('leased', 'retry') AND d.not_before <= now AS due,
          d.state <> 'leased' OR d.renewed OR d.attempts - d.failures <= 1 AS counts
        FROM (SELECT clock_timestamp() AS now) a
      ) b
    ) c
  ) e
)
RETURNING encode(key, 'hex') AS key, state, owner, fence::text AS fence, attempts::text AS attempts,
  handlers::text AS handlers, error,
  ceil(greatest(0, extract(epoch FROM not_before - clock_timestamp()) * 1000))::text AS wait
