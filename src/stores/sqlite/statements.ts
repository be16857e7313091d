import { ABANDONED, INTERRUPTED, KEEP_DEAD_MS, STALLED_MS } from '../store.js';

/** The database's clock, in milliseconds since 1970. */
export const NOW = `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`;

/** keys, as JSON: those under which a ledger has an effect */
export const FIND_EFFECTS = `SELECT DISTINCT key FROM webhook_effect
WHERE key IN (SELECT value FROM json_each(?))`;

const NEXT_FENCE = `max(fence + 1, ${NOW})`;
const STALLED = `state IN ('leased', 'retry') AND not_before < ${NOW} - ${STALLED_MS}`;
const FAILING = `state IN ('leased', 'retry') AND not_before >= ${NOW} - ${STALLED_MS}
  AND (failures > 0 OR attempts > 1 OR (state = 'leased' AND not_before < ${NOW}))`;
// SQLite uses the index of what is open only where its condition is repeated, word by word.
const OPEN = `state <> 'done'`;
/** The lease is still held under this fence. */
const HELD = `key = ? AND fence = ? AND state = 'leased'`;

/**
 * Every verb is one statement. Values are in the order of their question marks, and the rows that come
 * back say whether anything was touched.
 */
export const STATEMENTS = {
  /** key, scope, id, event, received at, body, owner, lease ms, keep ms, max crashes */
  claim: claim('', ''),

  /** proof, and what a claim without one takes: an object of the version before knows that alone. */
  claimProved: claim('proof, ', '?, '),

  /** lease ms, key, fence */
  renew: `UPDATE webhook_delivery SET not_before = ${NOW} + ?, renewed = 1 WHERE ${HELD} RETURNING 1`,

  /** { name: output as JSON } as JSON, key, fence */
  completeStep: `UPDATE webhook_delivery SET handlers = json_patch(handlers, ?) WHERE ${HELD} RETURNING 1`,

  /** keep ms, key, fence */
  complete: `UPDATE webhook_delivery
  SET state = 'done', purge_at = max(purge_at, ${NOW} + ?), owner = '', body = NULL, proof = NULL,
    handlers = '{}', error = NULL
  WHERE key = ? AND fence = ? AND state IN ('leased', 'done') RETURNING purge_at`,

  // These two may be asked again, where the first answer was lost: nobody has claimed it since.
  /** error, permanent, key, fence */
  fail: `UPDATE webhook_delivery
  SET (state, failures, not_before, error, purge_at) = (
    SELECT iif(held, iif(dies, 'dead', 'retry'), state), failures + held,
      iif(held, ${NOW}, not_before), iif(held, reason, error),
      iif(held AND dies, max(purge_at, ${NOW} + ${KEEP_DEAD_MS}), purge_at)
    FROM (SELECT ? AS reason, ? AS dies, state = 'leased' AS held))
  WHERE key = ? AND fence = ? AND state IN ('leased', 'retry', 'dead') RETURNING state`,

  /** key, fence */
  release: `UPDATE webhook_delivery SET state = 'retry', attempts = attempts - (state = 'leased'),
    not_before = iif(state = 'leased', ${NOW}, not_before)
  WHERE key = ? AND fence = ? AND state IN ('leased', 'retry') RETURNING 1`,

  /** key */
  redrive: `UPDATE webhook_delivery
  SET state = 'retry', attempts = 0, failures = 0, error = NULL, not_before = ${NOW}, fence = ${NEXT_FENCE}
  WHERE key = ? AND (state = 'dead' OR ${STALLED}) RETURNING 1`,

  /** key */
  isDone: `SELECT 1 FROM webhook_delivery
  WHERE key = ? AND state = 'done' AND ifnull(purge_at > ${NOW}, 1)`,

  // The fence stays, which says when it was last tried: of what is dead, nobody holds a lease.
  /** limit */
  abandon: `UPDATE webhook_delivery
  SET state = 'dead', error = '${ABANDONED}', purge_at = ${NOW} + ${KEEP_DEAD_MS}
  WHERE key IN (
    SELECT key FROM webhook_delivery
    WHERE purge_at <= ${NOW} AND body IS NOT NULL AND ${STALLED} LIMIT ?)
  RETURNING 1`,

  /** limit */
  forget: `DELETE FROM webhook_delivery WHERE key IN (
    SELECT key FROM webhook_delivery WHERE purge_at <= ${NOW} AND state IN ('done', 'dead') LIMIT ?)
  RETURNING 1`,

  /** after, scope or null, limit */
  dead: list(`state = 'dead'`),
  stalled: list(STALLED),
  failing: list(FAILING),

  /** scope or null, limit */
  countDead: count(`state = 'dead'`),
  countStalled: count(STALLED),
  countFailing: count(FAILING),
} as const;

export type StatementName = keyof typeof STATEMENTS;

/**
 * A lease that lapsed counts as a crash where it was renewed, or is the first to lapse: what was claimed and
 * never begun, because the answer was lost, has crashed nobody. A claim that lies ahead was made before the
 * clock was set back: its retry is due, and its lease has as long to run as one of now.
 */
function claim(column: string, mark: string): string {
  // excluded.fence is the time: that of a new row's first claim.
  return `INSERT INTO webhook_delivery AS d
    (${column}key, scope, delivery_id, event, received_at, body, state, owner, fence, not_before, purge_at)
  SELECT ${mark}?, ?, ?, ?, ?, ?, 'leased', ?, now, now + ?, now + ? FROM (SELECT ${NOW} AS now) WHERE true
  ON CONFLICT (key) DO UPDATE SET (scope, delivery_id, event, received_at, body, proof, failures,
    state, owner, fence, attempts, renewed, not_before, purge_at, error) = (
    SELECT
      iif(again, excluded.scope, d.scope), iif(again, excluded.delivery_id, d.delivery_id),
      iif(again, excluded.event, d.event), iif(again, excluded.received_at, d.received_at),
      iif(again, excluded.body, d.body), iif(again, excluded.proof, d.proof), iif(again, 0, d.failures),
      iif(dies, 'dead', iif(free, 'leased', d.state)),
      iif(taken, excluded.owner, d.owner),
      iif(free, max(d.fence + 1, excluded.fence), d.fence),
      iif(again, 1, d.attempts + (taken AND counts)),
      iif(taken, 0, d.renewed),
      iif(mine OR taken, excluded.not_before,
        iif(ahead AND d.state = 'leased', min(d.not_before, excluded.not_before), d.not_before)),
      iif(dies, max(d.purge_at, excluded.fence + ${KEEP_DEAD_MS}),
        iif(again, excluded.purge_at, iif(taken, max(d.purge_at, excluded.purge_at), d.purge_at))),
      iif(dies, '${INTERRUPTED}', d.error)
    FROM (
      SELECT *, free AND dying AS dies, free AND NOT dying AS taken FROM (
        SELECT again, mine, ahead, counts,
          again OR NOT mine AND (d.state IN ('leased', 'retry') AND d.not_before <= excluded.fence
            OR d.state = 'retry' AND ahead) AS free,
          d.state = 'leased' AND counts AND d.attempts - d.failures >= ? AS dying
        FROM (SELECT d.state = 'done' AND ifnull(d.purge_at <= excluded.fence, 0) AS again,
          d.state = 'leased' AND d.owner = excluded.owner AS mine, d.fence > excluded.fence + 1000 AS ahead,
          d.state <> 'leased' OR d.renewed OR d.attempts - d.failures <= 1 AS counts))))
  RETURNING state, owner, fence, attempts, handlers, max(0, not_before - ${NOW}) AS wait, purge_at`;
}

function count(which: string): string {
  return `SELECT count(*) AS number FROM (
    SELECT 1 FROM webhook_delivery WHERE ${OPEN} AND ${which} AND body IS NOT NULL AND scope = coalesce(?, scope) LIMIT ?)`;
}

function list(which: string): string {
  return `SELECT key, scope, delivery_id AS id, event, received_at, body, proof, attempts, error,
    fence, not_before, state = 'leased' AND not_before < ${NOW} AS lapsed
  FROM webhook_delivery
  WHERE ${OPEN} AND ${which} AND body IS NOT NULL AND key > ? AND scope = coalesce(?, scope) ORDER BY key LIMIT ?`;
}
