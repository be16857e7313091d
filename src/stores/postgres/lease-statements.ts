import { KEEP_DEAD_MS } from '../store.js';
import { after, DONE } from './statements.js';

/** A write under a lease. It changes nothing, and returns no row, if the lease has ended. */
export interface LeaseStatement {
  /** The name under which the server keeps it prepared, for one delivery. */
  readonly name: string;
  /** $1 key, $2 fence, and the values of the columns in their order. Returns the state after it. */
  readonly one: string;
  /** $1 keys, fences and values, as JSON. Returns the key and the state of each that it has changed. */
  readonly all: string;
}

interface Write {
  readonly columns: Readonly<Record<string, 'text' | 'boolean' | 'double precision'>>;
  /** The states in which it can be written. */
  readonly states: readonly string[];
  /** @param value - Returns the value of a column. */
  readonly set: (value: (column: string) => string) => string;
}

function write(name: string, { columns, states, set }: Write): LeaseStatement {
  const names = Object.keys(columns);
  const types = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
  const isHeld = `d.state IN (${states.map((state) => `'${state}'`).join(', ')})`;
  return {
    name,
    one: `
UPDATE webhook_delivery d SET ${set((column) => `$${names.indexOf(column) + 3}::text::${columns[column]}`)}
WHERE d.key = decode($1::text, 'hex') AND d.fence = $2::text::bigint AND ${isHeld}
RETURNING d.state`,
    // In the order of the keys, so that two of these statements never deadlock.
    all: `
WITH held AS (
  SELECT ${['d.key', ...names.map((column) => `w.${column}`)].join(', ')}
  FROM webhook_delivery d
  JOIN json_to_recordset($1::text::json) AS w (${['key text', 'fence bigint', ...types].join(', ')})
    ON d.key = decode(w.key, 'hex') AND d.fence = w.fence
  WHERE ${isHeld}
  ORDER BY d.key
  FOR UPDATE OF d
)
UPDATE webhook_delivery d SET ${set((column) => `held.${column}`)}
FROM held
WHERE d.key = held.key
RETURNING encode(d.key, 'hex') AS key, d.state`,
  };
}

/** Can be repeated if the first answer was lost. */
export const COMPLETE = write('complete', {
  columns: { keep: 'double precision' },
  states: ['leased', 'done'],
  set: (value) => DONE(value('keep')),
});

export const RENEW = write('renew', {
  columns: { lease: 'double precision' },
  states: ['leased'],
  set: (value) => `not_before = ${after(value('lease'))}, renewed = true`,
});

/** The name of a step and its output are JSON, whose texts may hold characters that jsonb rejects. */
export const COMPLETE_STEP = write('complete step', {
  columns: { step: 'text', output: 'text' },
  states: ['leased'],
  set: (value) =>
    `handlers = d.handlers || jsonb_build_object(${value('step')}, ${value('output')})`,
});

// `fail` and `release` can be repeated, too: if the fence is the same, there was no claim since.
const IS_HELD = `d.state = 'leased'`;
const DUE = `not_before = CASE WHEN ${IS_HELD} THEN clock_timestamp() ELSE d.not_before END`;

export const FAIL = write('fail', {
  columns: { permanent: 'boolean', message: 'text' },
  states: ['leased', 'retry', 'dead'],
  set: (value) => `failures = d.failures + (${IS_HELD})::int,
  error = CASE WHEN ${IS_HELD} THEN ${value('message')} ELSE d.error END,
  state = CASE WHEN NOT ${IS_HELD} THEN d.state WHEN ${value('permanent')} THEN 'dead' ELSE 'retry' END,
  purge_at = CASE WHEN ${IS_HELD} AND ${value('permanent')}
    THEN greatest(d.purge_at, ${after(`${KEEP_DEAD_MS}`)}) ELSE d.purge_at END,
  ${DUE}`,
});

export const RELEASE = write('release', {
  columns: {},
  states: ['leased', 'retry'],
  set: () => `state = 'retry', attempts = d.attempts - (${IS_HELD})::int, ${DUE}`,
});
