import type { Json } from '../../schemas/json.js';
import { fromBase64, toBase64 } from '../base64.js';
import type { Claim, Claimable, LeaseTerms, StoredDelivery, UnfinishedState } from '../store.js';
import { toStored } from '../stored.js';
import type { Row, Value } from './client.js';
import { storable } from './encoding.js';

/** A claim that has been asked for. */
export interface Asked {
  readonly delivery: Claimable;
  readonly lease: LeaseTerms;
}

/** A claim as the statements read it, in this order. Numbers are texts, because JSON has no `Infinity`. */
export function toColumns({ delivery, lease }: Asked): Record<string, Value> {
  const { key, scope, id, event, receivedAt, body, proof } = delivery;
  return {
    key,
    scope: storable(scope),
    id: storable(id),
    event: storable(event),
    received: `${receivedAt}`,
    body: body ? toBase64(body) : null,
    proof: body && proof !== undefined ? storable(proof) : null,
    owner: lease.owner,
    lease: `${lease.leaseMs}`,
    keep: `${lease.keepMs}`,
    crashes: `${lease.maxCrashes}`,
  };
}

/** What came of a claim, by the row as it is now. */
export function toClaim(row: Row | undefined, owner: string): Claim {
  if (!row) throw new Error('PostgreSQL gave no row for a claim.');
  const state = row.text('state');
  if (state === 'done' || state === 'dead') return { state };
  if (state === 'leased' && row.maybe('owner') === owner) {
    return {
      state: 'acquired',
      fence: row.number('fence'),
      attempt: row.number('attempts'),
      steps: readSteps(row.text('handlers')),
    };
  }
  return { state: 'busy', retryAfterMs: row.number('wait') };
}

/** What is listed. */
export function fromRow(row: Row, state: UnfinishedState): StoredDelivery {
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
      error: row.maybe('error'),
      fence: row.number('fence'),
      notBefore: row.number('due'),
      lapsed: row.text('lapsed') === 'true',
    },
    state,
  );
}

/** Names and outputs are JSON within JSON. */
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
