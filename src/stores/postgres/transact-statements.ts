import type { TransactTerms } from '../store.js';
import type { Call, Statement } from './calls.js';
import type { Results } from './session.js';
import { DONE, FENCE_NOW } from './statements.js';

const MARK = 'storefront_webhooks.transaction';
const IS_INSIDE = `current_setting('${MARK}', true) = 'yes'`;

/** $1 key, $2 fence */
const HELD = `key = decode($1, 'hex') AND fence = $2 AND state = 'leased'`;

/** $3 the time limit of the transaction: sets it on the server, and locks the row of the delivery. */
const LOCK: Statement = {
  name: 'lock',
  types: ['text', 'bigint', 'text'],
  text: `SELECT 'yes' AS held, set_config('statement_timeout', $3, true),
  set_config('idle_in_transaction_session_timeout', $3, true), set_config('${MARK}', 'yes', true)
FROM webhook_delivery WHERE ${HELD} FOR UPDATE`,
};

/** The setting that keeps the `lock_timeout` of the connection. */
const OWN_LIMIT = 'storefront_webhooks.lock_timeout';

/**
 * The longest wait for an effect that another transaction does, in milliseconds. Shorter than the 3 s for which a copy
 * waits, and than the silence after which the driver gives the connection up: its server process would go on waiting,
 * with the row of the delivery locked.
 */
const EFFECT_WAIT_MS = 2_000;

/** $1 the longest wait for a lock. Keeps the limit of the connection, which {@link LOCK_EFFECT} restores. */
const LIMIT_WAIT: Statement = {
  name: 'limit wait',
  types: ['text'],
  text: `SELECT set_config('${OWN_LIMIT}', current_setting('lock_timeout'), true),
  set_config('lock_timeout', $1, true)`,
};

/** $3 the key of the effect. Waits for another transaction that has its row. */
const ENTER_EFFECT: Statement = {
  name: 'enter effect',
  types: ['text', 'bigint', 'text'],
  text: `INSERT INTO webhook_delivery (key, scope, id, event, received_at, state, fence, attempts, failures, owner,
  not_before, purge_at)
SELECT decode($3, 'hex'), scope, id, event, received_at, 'leased', ${FENCE_NOW}, 1, 0, NULL, clock_timestamp(),
  'infinity'
FROM webhook_delivery WHERE ${HELD}
ON CONFLICT DO NOTHING`,
};

/**
 * $1 the key of the effect. Restores the limit of the connection for the handler's statements: outside of the subquery,
 * because PostgreSQL evaluates the columns of a query before it locks the row.
 */
const LOCK_EFFECT: Statement = {
  name: 'lock effect',
  types: ['text'],
  text: `WITH effect AS MATERIALIZED (
  SELECT state, (not_before <= clock_timestamp())::text AS due FROM webhook_delivery
  WHERE key = decode($1, 'hex') FOR UPDATE
) SELECT state, due, set_config('lock_timeout', current_setting('${OWN_LIMIT}'), true) FROM effect`,
};

/** $1 the key of the effect */
const COMPLETE_EFFECT: Statement = {
  name: 'complete effect',
  types: ['text'],
  text: `UPDATE webhook_delivery d SET ${DONE("'Infinity'::double precision")}
WHERE key = decode($1, 'hex') AND ${IS_INSIDE}`,
};

/**
 * The last statement of a transaction. If the handler has ended the transaction, or the lease is lost, it divides by
 * zero, so that no COMMIT follows.
 */
const recording = (update: string) => `WITH recorded AS (
  ${update} WHERE ${HELD} AND ${IS_INSIDE} RETURNING 1
) SELECT 1 / (SELECT count(*) FROM recorded)`;

/** The error of {@link commit} if it records nothing. */
export const RECORDED_NOTHING = '22012';

/** The error of {@link begin} if another transaction does the effect for longer than {@link EFFECT_WAIT_MS}. */
export const WAITED_TOO_LONG = '55P03';

/** $3 keep */
const RECORD_DONE: Statement = {
  name: 'record done',
  types: ['text', 'bigint', 'double precision'],
  text: recording(`UPDATE webhook_delivery d SET ${DONE('$3')}`),
};

/** $3 the name of a step, as JSON */
const RECORD_STEP: Statement = {
  name: 'record step',
  types: ['text', 'bigint', 'text'],
  text: recording(
    `UPDATE webhook_delivery SET handlers = handlers || jsonb_build_object($3, 'null')`,
  ),
};

/** The statements that a connection keeps prepared. */
export const STATEMENTS: readonly Statement[] = [
  LOCK,
  LIMIT_WAIT,
  ENTER_EFFECT,
  LOCK_EFFECT,
  COMPLETE_EFFECT,
  RECORD_DONE,
  RECORD_STEP,
];

/**
 * The first statements of a transaction: its limits on the server, the row of the delivery, and the row of the
 * effect, which waits for a while for another transaction that has it.
 */
export function begin({ key, fence, timeoutMs, effect }: TransactTerms): Call[] {
  const held = [ofKey(key), whole(fence)];
  const lock = { statement: LOCK, literals: [...held, `'${whole(Math.max(1, timeoutMs))}'`] };
  if (effect === undefined) return [lock];
  return [
    lock,
    { statement: LIMIT_WAIT, literals: [`'${EFFECT_WAIT_MS}'`] },
    { statement: ENTER_EFFECT, literals: [...held, ofKey(effect)] },
    { statement: LOCK_EFFECT, literals: [ofKey(effect)] },
  ];
}

/** The finding at the beginning of a transaction: run the handler, or why not. */
export type Begun = 'run' | 'known' | 'lost' | 'busy';

export function readBegun(results: Results, { effect }: TransactTerms): Begun {
  const rows = results.flat();
  if (!rows.some((row) => row.maybe('held') === 'yes')) return 'lost';
  if (effect === undefined) return 'run';
  const found = rows.find((row) => row.maybe('state') !== undefined);
  if (!found) return 'lost';
  if (found.text('state') === 'done') return 'known';
  // The effect of an attempt that failed or crashed, or of one that was not in a transaction.
  return found.text('state') !== 'leased' || found.text('due') === 'true' ? 'run' : 'busy';
}

/** The last statements of a transaction. */
export function commit({ key, fence, effect, record }: TransactTerms, isKnown: boolean): Call[] {
  const held = [ofKey(key), whole(fence)];
  const isNew = effect !== undefined && !isKnown;
  return [
    ...(isNew ? [{ statement: COMPLETE_EFFECT, literals: [ofKey(effect)] }] : []),
    'step' in record
      ? { statement: RECORD_STEP, literals: [...held, quoted(JSON.stringify(record.step))] }
      : { statement: RECORD_DONE, literals: [...held, toDouble(record.keepMs)] },
  ];
}

const KEY = /^[\da-f]{64}$/;

function ofKey(key: string): string {
  // The contract has checked both already.
  if (!KEY.test(key)) throw new Error('A key is 64 hexadecimal digits.');
  return `'${key}'`;
}

function whole(value: number): string {
  return `${Math.max(0, Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER))}`;
}

function toDouble(value: number): string {
  return value === Number.POSITIVE_INFINITY ? `'Infinity'` : whole(value);
}

function quoted(text: string): string {
  return `E'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
}
