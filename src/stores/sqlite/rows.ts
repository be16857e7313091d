import type { Claim, StoredDelivery, UnfinishedState } from '../store.js';
import { toStored } from '../stored.js';

/** As the statements say; a connection may be set to give every integer as a bigint. */
export type Integer = number | bigint;

export interface ClaimRow {
  readonly state: Claim['state'] | 'leased';
  readonly owner: string;
  readonly fence: Integer;
  readonly attempts: Integer;
  readonly handlers: string;
  readonly wait: Integer;
}

export interface DeliveryRow {
  readonly key: string;
  readonly scope: string;
  readonly id: string;
  readonly event: string;
  readonly received_at: Integer;
  readonly body: Uint8Array;
  readonly attempts: Integer;
  readonly error: string | null;
  // Not there, where an object of the version before gives the row.
  readonly proof?: string | null;
  readonly fence?: Integer;
  readonly not_before?: Integer;
  readonly lapsed?: Integer;
}

export function toClaim(row: ClaimRow, owner: string): Claim {
  if (row.state === 'done') return { state: 'done' };
  if (row.state === 'dead') return { state: 'dead' };
  if (row.state !== 'leased' || row.owner !== owner) {
    return { state: 'busy', retryAfterMs: Number(row.wait) };
  }
  const handlers: Record<string, string> = JSON.parse(row.handlers);
  const steps = Object.entries(handlers).map(([name, output]) => [name, JSON.parse(output)]);
  return {
    state: 'acquired',
    fence: Number(row.fence),
    attempt: Number(row.attempts),
    steps: Object.fromEntries(steps),
  };
}

export function fromRow(row: DeliveryRow, state: UnfinishedState): StoredDelivery {
  const { received_at, not_before, fence, attempts, body, proof, lapsed, ...rest } = row;
  return toStored(
    {
      ...rest,
      // A copy: some drivers give a view of something larger.
      body: new Uint8Array(body),
      proof,
      receivedAt: Number(received_at),
      attempts: Number(attempts),
      fence: fence === undefined ? undefined : Number(fence),
      notBefore: not_before === undefined ? undefined : Number(not_before),
      lapsed: Number(lapsed) === 1,
    },
    state,
  );
}
