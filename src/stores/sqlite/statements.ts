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

/** The database's clock, in milliseconds since 1970. */
export const NOW = `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`;

/** keys, as JSON. Finds the keys for which a ledger has an effect. */
export const FIND_EFFECTS = `SELECT DISTINCT key FROM webhook_effect
WHERE key IN (SELECT value FROM json_each(?))`;

/** keys, as JSON. Finds the keys that `isDone` is true for. */
export const FIND_DONE = `SELECT key FROM webhook_delivery
WHERE key IN (SELECT value FROM json_each(?)) AND state = 'done' AND ifnull(purge_at > ${NOW}, 1)`;

const NEXT_FENCE = `max(fence + 1, ${NOW})`;
const LATE = `not_before < ${NOW} - ${STALLED_MS}`;
const STALLED = `state IN ('leased', 'retry') AND ${LATE}`;
const FAILING = `state IN ('leased', 'retry') AND not_before >= ${NOW} - ${STALLED_MS}
  AND (failures > 0 OR attempts > 1 OR (state = 'leased' AND not_before < ${NOW}))`;
export const DONE = (
  purgeAt: string,
) => `state = 'done', purge_at = ${purgeAt}, owner = '', body = NULL, proof = NULL,
    handlers = '{}', error = NULL`;
/** The condition that the lease is still held under this fence. */
const HELD = `key = ? AND fence = ? AND state = 'leased'`;

/**
 * The statements of the verbs, one for each. Values are in the order of their question marks. The returned rows
 * show whether a statement touched anything.
 */
export const STATEMENTS = {
  /** key, scope, id, event, received at, body, owner, lease ms, keep ms, max crashes */
  claim: claim('', ''),

  /** proof, then the values of `claim`. Durable Objects of the previous version only know `claim`. */
  claimProved: claim('proof, ', '?, '),

  /** lease ms, key, fence */
  renew: `UPDATE webhook_delivery SET not_before = ${NOW} + ?, renewed = 1 WHERE ${HELD} RETURNING 1`,

  /** { name: output as JSON } as JSON, key, fence */
  completeStep: `UPDATE webhook_delivery SET handlers = json_patch(handlers, ?) WHERE ${HELD} RETURNING 1`,

  /** keep ms, key, fence */
  complete: `UPDATE webhook_delivery
  SET ${DONE(`max(purge_at, ${NOW} + ?)`)}
  WHERE key = ? AND fence = ? AND state IN ('leased', 'done') RETURNING purge_at`,

  // `fail` and `release` can be repeated if the first answer was lost: if the fence is the same, there was no claim since.
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

  // The fence stays, because it is the time of the last attempt. A dead delivery has no lease.
  // Reads only the first due keys, of which `forget` then deletes the rest. Otherwise each purge would read every
  // unfinished delivery.
  /** limit, of `abandon` and `forget` together */
  abandon: `UPDATE webhook_delivery
  SET state = 'dead', error = iif(state = 'leased', '${ABANDONED_INTERRUPTED}', '${ABANDONED}'),
    purge_at = ${NOW} + ${KEEP_DEAD_MS}
  WHERE state IN ('leased', 'retry') AND key IN (
    SELECT key FROM webhook_delivery
    WHERE purge_at <= ${NOW} AND (state IN ('done', 'dead') OR (body IS NOT NULL AND ${LATE}))
    ORDER BY purge_at LIMIT ?)
  RETURNING 1`,

  /** limit */
  forget: `DELETE FROM webhook_delivery WHERE key IN (
    SELECT key FROM webhook_delivery WHERE purge_at <= ${NOW} AND state IN ('done', 'dead')
    ORDER BY purge_at LIMIT ?)
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
 * Returns the statement of a claim. An expired lease counts as a crash if it was renewed or is the first to expire.
 * Otherwise its attempt never began, because the answer to the claim was lost. A claim in the future was made
 * before the clock was set back: its retry is due, and its lease ends no later than a lease taken now. A claim for
 * a transaction is free after a moment: this statement has the lock that the transaction needs.
 */
function claim(column: string, mark: string): string {
  // excluded.fence is the current time, the fence of a new row.
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
            OR d.state = 'retry' AND ahead
            OR d.state = 'leased' AND d.fence < excluded.fence - ${GAP_MS}
              AND d.owner LIKE '${IN_TRANSACTION}%') AS free,
          d.state = 'leased' AND counts AND d.attempts - d.failures >= ? AS dying
        FROM (SELECT d.state = 'done' AND ifnull(d.purge_at <= excluded.fence, 0) AS again,
          d.state = 'leased' AND d.owner = excluded.owner AS mine, d.fence > excluded.fence + ${AHEAD_MS} AS ahead,
          d.state <> 'leased' OR d.renewed OR d.attempts - d.failures <= 1 AS counts))))
  RETURNING state, owner, fence, attempts, handlers, max(0, not_before - ${NOW}) AS wait, purge_at`;
}

function count(which: string): string {
  return `SELECT count(*) AS number FROM (
    SELECT 1 FROM webhook_delivery WHERE ${which} AND body IS NOT NULL AND scope = coalesce(?, scope) LIMIT ?)`;
}

function list(which: string): string {
  return `SELECT key, scope, delivery_id AS id, event, received_at, body, proof, attempts, error,
    fence, not_before, state = 'leased' AND not_before < ${NOW} AS lapsed
  FROM webhook_delivery
  WHERE ${which} AND body IS NOT NULL AND key > ? AND scope = coalesce(?, scope) ORDER BY key LIMIT ?`;
}
