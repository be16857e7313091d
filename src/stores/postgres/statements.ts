import {
  ABANDONED,
  ABANDONED_INTERRUPTED,
  AHEAD_MS,
  GAP_MS,
  IN_TRANSACTION,
  INTERRUPTED,
  KEEP_DEAD_MS,
  STALLED_MS,
} from '../store.js';

// Each parameter is text and is cast here, and each returned column is text, because drivers differ in how they
// write and read other types, and users can change that. The server's clock decides.

const fenceAt = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)::bigint`;
export const FENCE_NOW = fenceAt('clock_timestamp()');
const nextFence = (previous: string, time: string) => `greatest(${previous} + 1, ${fenceAt(time)})`;
export const after = (ms: string, time = 'clock_timestamp()') =>
  `${time} + (${ms}) * interval '1 millisecond'`;
/** More than a thousand years, or `Infinity`, means forever, because no date can hold it. */
const kept = (ms: string, time: string) =>
  `CASE WHEN ${ms} > 1e14 THEN 'infinity' ELSE ${after(ms, time)} END`;
export const stalledBefore = (time: string) => after(`-${STALLED_MS}`, time);

/**
 * A setting of the statement's own transaction, for a row that was claimed and locked after the statement began. It
 * fails then, and is retried.
 */
const WITHOUT_LOCK = `set_config('lock_timeout', '100ms', true)`;
/** Another one: its commit does not wait for the disk. */
const WITHOUT_WAITING = `set_config('synchronous_commit', 'off', true)`;

const INSERT = `
INSERT INTO webhook_delivery AS d (key, scope, id, event, received_at, body, proof, state, fence,
  attempts, failures, owner, not_before, purge_at)
SELECT decode(c.key, 'hex'), c.scope, c.id, c.event, to_timestamp(c.received / 1000),
  decode(c.body, 'base64'), c.proof, 'leased', ${fenceAt('c.now')}, 1, 0, c.owner,
  ${after('c.lease', 'c.now')}, ${kept('c.keep', 'c.now')}`;

/**
 * Claims a delivery, and returns a row only if its key is new, as most are. A third of the work of {@link CLAIM}.
 */
export const CLAIM_NEW = `${INSERT}
FROM (SELECT $1::text AS key, $2::text AS scope, $3::text AS id, $4::text AS event,
  $5::text::double precision AS received, $6::text AS body, $7::text AS proof, $8::text AS owner,
  $9::text::double precision AS lease, $10::text::double precision AS keep,
  clock_timestamp() AS now) c
ON CONFLICT DO NOTHING RETURNING fence::text AS fence`;

/**
 * {@link CLAIM_NEW} for a delivery that a transaction will process. Does not wait for the disk: the transaction
 * does, and a claim that only a crash of the server undoes was not answered.
 */
export const CLAIM_NEW_SOON = CLAIM_NEW.replace(
  'ON CONFLICT',
  `WHERE ${WITHOUT_WAITING} IS NOT NULL
ON CONFLICT`,
);

/** {@link CLAIM_NEW} for an effect whose row a transaction may have inserted and not committed. */
export const CLAIM_NEW_EFFECT = CLAIM_NEW.replace(
  'ON CONFLICT',
  `WHERE ${WITHOUT_LOCK} IS NOT NULL
ON CONFLICT`,
);

const UNLOCKED = `, known AS MATERIALIZED (
  SELECT key FROM webhook_delivery WHERE key IN (SELECT decode(key, 'hex') FROM claims)
), unlocked AS MATERIALIZED (
  SELECT key FROM webhook_delivery WHERE key IN (SELECT decode(key, 'hex') FROM claims)
  ORDER BY key FOR UPDATE SKIP LOCKED
)`;
const OF_UNLOCKED = `WHERE decode(c.key, 'hex') NOT IN (SELECT key FROM known)
  OR decode(c.key, 'hex') IN (SELECT key FROM unlocked)`;

const claim = ({ beside, soon }: { readonly beside: boolean; readonly soon: boolean }) => `
WITH claims AS (
  SELECT *, clock_timestamp() AS now FROM json_to_recordset($1::text::json) AS claim (
    key text, scope text, id text, event text, received double precision, body text, proof text, owner text,
    lease double precision, keep double precision, crashes double precision)
)${beside ? UNLOCKED : ''}
${INSERT}
FROM claims c${beside ? `, (SELECT ${WITHOUT_LOCK}${soon ? `, ${WITHOUT_WAITING}` : ''}) AS settings` : ''}
${beside ? OF_UNLOCKED : ''}
ORDER BY c.key COLLATE "C"
ON CONFLICT (key) DO UPDATE SET (scope, id, event, received_at, body, proof, purge_at, handlers, failures,
  attempts, renewed, state, owner, fence, not_before, error) = (
  SELECT
    CASE WHEN again THEN excluded.scope ELSE d.scope END,
    CASE WHEN again THEN excluded.id ELSE d.id END,
    CASE WHEN again THEN excluded.event ELSE d.event END,
    CASE WHEN again THEN excluded.received_at ELSE d.received_at END,
    CASE WHEN again THEN excluded.body ELSE d.body END,
    CASE WHEN again THEN excluded.proof ELSE d.proof END,
    CASE WHEN again THEN excluded.purge_at WHEN poison
      THEN greatest(d.purge_at, ${after(`${KEEP_DEAD_MS}`, 'now')})
      WHEN taken THEN greatest(d.purge_at, excluded.purge_at) ELSE d.purge_at END,
    d.handlers,
    CASE WHEN again THEN 0 ELSE d.failures END,
    CASE WHEN again THEN 1 WHEN taken AND counts THEN d.attempts + 1 ELSE d.attempts END,
    d.renewed AND NOT taken,
    CASE WHEN poison THEN 'dead' WHEN taken THEN 'leased' ELSE d.state END,
    CASE WHEN taken THEN excluded.owner ELSE d.owner END,
    CASE WHEN free THEN ${nextFence('d.fence', 'now')} ELSE d.fence END,
    CASE WHEN taken OR mine THEN excluded.not_before
      WHEN ahead AND d.state = 'leased' THEN least(d.not_before, excluded.not_before) ELSE d.not_before END,
    CASE WHEN poison THEN '${INTERRUPTED}' ELSE d.error END
  FROM (
    SELECT now, again, mine, ahead, counts, free, free AND dying AS poison, free AND NOT dying AS taken
    FROM (
      SELECT now, again, mine, ahead, counts, again OR (due AND NOT mine) AS free,
        d.state = 'leased' AND counts AND d.attempts - d.failures >=
          (SELECT crashes FROM claims WHERE key = encode(d.key, 'hex')) AS dying
      FROM (
        SELECT now, d.state = 'done' AND d.purge_at <= now AS again,
          d.state = 'leased' AND d.owner = excluded.owner AS mine, ahead,
          d.state IN ('leased', 'retry') AND (d.not_before <= now OR (ahead AND d.state = 'retry')
            OR (d.owner LIKE '${IN_TRANSACTION}%' AND d.fence < time - ${GAP_MS})) AS due,
          d.state <> 'leased' OR d.renewed OR d.attempts - d.failures <= 1 AS counts
        FROM (
          SELECT now, time, d.fence > time + ${AHEAD_MS} AS ahead
          FROM (SELECT now, ${fenceAt('now')} AS time FROM (SELECT clock_timestamp() AS now) z) y
        ) a
      ) b
    ) c
  ) e
)
RETURNING encode(key, 'hex') AS key, state, owner, fence::text AS fence, attempts::text AS attempts,
  handlers::text AS handlers,
  ceil(greatest(0, extract(epoch FROM not_before - clock_timestamp()) * 1000))::text AS wait`;

/**
 * $1 claims, as JSON. Returns a row for each key; the claim has succeeded if its owner has the lease. In the order
 * of the keys, so that two of these statements never deadlock. An expired lease counts as a crash if it was renewed
 * or is the first to expire. Otherwise its attempt never began, because the answer to the claim was lost. A claim in
 * the future was made before the clock was set back: its retry is due, and its lease ends no later than a lease taken
 * now.
 */
export const CLAIM = claim({ beside: false, soon: false });

/**
 * {@link CLAIM} beside transactions. The row of a delivery that a transaction processes is locked. The statement
 * would wait for the handler, and all claims of the batch with it: so it leaves the row out, and returns none.
 */
export const CLAIM_UNLOCKED = claim({ beside: true, soon: false });

/** {@link CLAIM_UNLOCKED} if transactions will process all of the claims: see {@link CLAIM_NEW_SOON}. */
export const CLAIM_UNLOCKED_SOON = claim({ beside: true, soon: true });

export const DONE = (keep: string) => `state = 'done',
  purge_at = greatest(d.purge_at, ${kept(keep, 'clock_timestamp()')}),
  owner = NULL, handlers = '{}', error = NULL, body = NULL, proof = NULL`;

/** $1 key */
export const REDRIVE = `
UPDATE webhook_delivery SET state = 'retry', attempts = 0, failures = 0, error = NULL,
  fence = ${nextFence('fence', 'clock_timestamp()')}, not_before = clock_timestamp()
WHERE key = decode($1::text, 'hex') AND (state = 'dead' OR
  (state IN ('leased', 'retry') AND not_before < ${stalledBefore('clock_timestamp()')}))
RETURNING 'yes' AS redriven`;

/** $1 keys, as JSON. Returns those that are done. */
export const FIND_DONE = `
SELECT encode(key, 'hex') AS key FROM webhook_delivery
WHERE key = ANY (ARRAY(SELECT decode(asked, 'hex') FROM json_array_elements_text($1::text::json) AS asked))
  AND state = 'done' AND purge_at > clock_timestamp()`;

// PostgreSQL evaluates a subquery once per statement. The bare function would prevent the use of an index.
const NOW = '(SELECT clock_timestamp())';

/**
 * $1 limit. The fence of abandoned deliveries stays, which is the time of the last attempt: a dead delivery has no
 * lease.
 */
export const PURGE = `
WITH old AS (
  SELECT key, state FROM webhook_delivery
  WHERE purge_at <= ${NOW} AND (state IN ('done', 'dead')
    OR (body IS NOT NULL AND not_before < ${stalledBefore(NOW)}))
  ORDER BY purge_at LIMIT $1::text::bigint
  FOR UPDATE SKIP LOCKED
), forgotten AS (
  DELETE FROM webhook_delivery d USING old
  WHERE d.key = old.key AND old.state IN ('done', 'dead') RETURNING 1
), abandoned AS (
  UPDATE webhook_delivery d SET state = 'dead',
    error = CASE old.state WHEN 'leased' THEN '${ABANDONED_INTERRUPTED}' ELSE '${ABANDONED}' END,
    purge_at = ${after(`${KEEP_DEAD_MS}`)}
  FROM old WHERE d.key = old.key AND old.state IN ('leased', 'retry') RETURNING 1
)
SELECT ((SELECT count(*) FROM forgotten) + (SELECT count(*) FROM abandoned))::text AS number`;

const unfinished = (state: string, condition: string) => `
  (SELECT * FROM webhook_delivery
  WHERE state = '${state}' AND ${condition} AND body IS NOT NULL AND key > decode($1::text, 'hex')
    AND ($3::text IS NULL OR scope = $3::text)
  ORDER BY webhook_delivery.key LIMIT $2::text::bigint)`;

// One subquery for each state, which PostgreSQL reads in the order of the index. The order names the table, because
// a bare `key` would be the column of the result, and so would sort all rows.
const list = (states: readonly string[], condition: string) => `
SELECT encode(key, 'hex') AS key, scope, id, event, attempts::text AS attempts, error,
  round(extract(epoch FROM received_at) * 1000)::text AS received, encode(body, 'base64') AS body, proof,
  fence::text AS fence, floor(extract(epoch FROM not_before) * 1000)::text AS due,
  (state = 'leased' AND not_before < clock_timestamp())::text AS lapsed
FROM (${states.map((state) => unfinished(state, condition)).join(' UNION ALL')}) d
ORDER BY d.key LIMIT $2::text::bigint`;

const count = (states: readonly string[], condition: string) => `
SELECT count(*)::text AS number FROM (
  SELECT 1 FROM webhook_delivery
  WHERE state IN ('${states.join(`', '`)}') AND ${condition} AND body IS NOT NULL
    AND scope = coalesce($2::text, scope)
  LIMIT $1::text::bigint
) a`;

const DEAD = [['dead'], 'true'] as const;
const STALLED = [['leased', 'retry'], `not_before < ${stalledBefore(NOW)}`] as const;
const FAILING = [
  ['leased', 'retry'],
  `not_before >= ${stalledBefore(NOW)}
  AND (failures > 0 OR attempts > 1 OR (state = 'leased' AND not_before < ${NOW}))`,
] as const;

/** $1 the key after which the list begins, $2 limit, $3 scope, or null for all */
export const LIST = { dead: list(...DEAD), stalled: list(...STALLED), failing: list(...FAILING) };

/** $1 limit, $2 scope, or null for all */
export const COUNT = {
  dead: count(...DEAD),
  stalled: count(...STALLED),
  failing: count(...FAILING),
};
