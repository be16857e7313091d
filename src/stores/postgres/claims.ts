import { fromBase64, toBase64 } from '../../runtime/base64.js';
import type { Json } from '../../schemas/values.js';
import {
  ABANDONED_INTERRUPTED,
  type Claim,
  type Claimable,
  IN_TRANSACTION,
  type LeaseTerms,
  type StoredDelivery,
  type UnfinishedState,
} from '../store.js';
import { toStored } from '../stored.js';
import type { Row, Value } from './client.js';
import { WAIT_MS } from './sessions.js';
import { storable } from './storable.js';

/** The answer to a claim whose row a transaction of another process holds. */
export const HELD: Claim = { state: 'busy', retryAfterMs: 1_000 };

/** A claim that a receiver has asked for. */
export interface Asked {
  readonly delivery: Claimable;
  readonly lease: LeaseTerms;
  /** The delivery's transaction has to wait for a connection, and no other process may take the delivery over meanwhile. */
  readonly waits?: boolean | undefined;
}

/** Converts a claim to the columns of the statements, in their order. Numbers are text: JSON has no `Infinity`. */
export function toColumns({ delivery, lease, waits }: Asked): Record<string, Value> {
  const { key, scope, id, event, receivedAt, body, proof } = delivery;
  return {
    key,
    scope: storable(scope),
    id: storable(id),
    event: storable(event),
    received: `${receivedAt}`,
    body: body ? toBase64(body) : null,
    proof: body && proof !== undefined ? storable(proof) : null,
    owner: lease.isTransaction && !waits ? IN_TRANSACTION + lease.owner : lease.owner,
    lease: `${waits ? Math.min(lease.leaseMs, WAIT_MS) : lease.leaseMs}`,
    keep: `${lease.keepMs}`,
    crashes: `${lease.maxCrashes}`,
  };
}

/**
 * Returns the result of a claim, from the row after the statement.
 *
 * @param isLeftOut - The statement leaves out the rows that a transaction of another process holds.
 */
export function toClaim(row: Row | undefined, owner: string, isLeftOut: boolean): Claim {
  if (!row && isLeftOut) return HELD;
  if (!row) throw new Error('PostgreSQL returned no row for a claim.');
  const state = row.text('state');
  if (state === 'done' || state === 'dead') return { state };
  if (state === 'leased' && row.maybe('owner')?.replace(IN_TRANSACTION, '') === owner) {
    return {
      state: 'acquired',
      fence: row.number('fence'),
      attempt: row.number('attempts'),
      steps: readSteps(row.text('handlers')),
    };
  }
  return { state: 'busy', retryAfterMs: row.number('wait') };
}

/** Converts a row of a list. */
export function fromRow(row: Row, state: UnfinishedState): StoredDelivery {
  const error = row.maybe('error');
  return toStored(
    {
      key: row.text('key'),
      scope: row.text('scope'),
      id: row.text('id'),
      event: row.text('event'),
      body: fromBase64(row.text('body')),
      proof: row.maybe('proof'),
      receivedAt: row.number('received'),
      attempts: row.number('attempts'),
      error,
      fence: row.number('fence'),
      notBefore: row.number('due'),
      lapsed: row.text('lapsed') === 'true' || error === ABANDONED_INTERRUPTED,
    },
    state,
  );
}

/** Parses steps, whose names and outputs are JSON within JSON. */
function readSteps(json: string): Record<string, Json> {
  const handlers: Record<string, string> = JSON.parse(json);
  return Object.fromEntries(
    Object.entries(handlers).map(([name, output]): [string, Json] => [
      JSON.parse(name),
      JSON.parse(output),
    ]),
  );
}

export function byKey(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.text('key'), row]));
}
