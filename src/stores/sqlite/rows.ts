import { fromBase64 } from '../../runtime/base64.js';
import { isBytes } from '../../runtime/bytes.js';
import type { Json } from '../../schemas/values.js';
import {
  ABANDONED_INTERRUPTED,
  type Claim,
  type StoredDelivery,
  type UnfinishedState,
} from '../store.js';
import { toStored } from '../stored.js';

/** A row that checks the types of its columns when they are read. */
export class Row {
  readonly #columns: object;

  constructor(columns: unknown) {
    this.#columns = typeof columns === 'object' && columns !== null ? columns : {};
  }

  text(column: string): string {
    return this.maybeText(column) ?? this.#misses(column, 'text');
  }

  maybeText(column: string): string | undefined {
    const value = this.#value(column);
    return typeof value === 'string' ? value : undefined;
  }

  number(column: string): number {
    return this.maybeNumber(column) ?? this.#misses(column, 'number');
  }

  maybeNumber(column: string): number | undefined {
    const value = this.#value(column);
    // A connection may be set to return every integer as a bigint.
    return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
  }

  bytes(column: string): Uint8Array {
    const value = this.#value(column);
    // A copy: some drivers return a view of a larger buffer, libsql an ArrayBuffer, and D1 a list of numbers.
    if (isBytes(value) || Array.isArray(value) || value instanceof ArrayBuffer) {
      return new Uint8Array(value);
    }
    // The D1 store writes bytes as base64.
    return fromBase64(this.maybeText(column) ?? this.#misses(column, 'bytes'));
  }

  #value(column: string): unknown {
    return Reflect.get(this.#columns, column);
  }

  #misses(column: string, what: string): never {
    throw new Error(`SQLite returned no ${what} in the column ${column}.`);
  }
}

export function toClaim(row: Row, owner: string): Claim {
  const state = row.text('state');
  if (state === 'done' || state === 'dead') return { state };
  if (state !== 'leased' || row.text('owner') !== owner) {
    return { state: 'busy', retryAfterMs: row.number('wait') };
  }
  const handlers: Record<string, string> = JSON.parse(row.text('handlers'));
  const steps = Object.entries(handlers).map(([name, output]): [string, Json] => [
    name,
    JSON.parse(output),
  ]);
  return {
    state: 'acquired',
    fence: row.number('fence'),
    attempt: row.number('attempts'),
    steps: Object.fromEntries(steps),
  };
}

export function toListed(row: Row, state: UnfinishedState): StoredDelivery {
  const error = row.maybeText('error');
  return toStored(
    {
      key: row.text('key'),
      scope: row.text('scope'),
      id: row.text('id'),
      event: row.text('event'),
      body: row.bytes('body'),
      receivedAt: row.number('received_at'),
      attempts: row.number('attempts'),
      error,
      // Missing if a Durable Object of the previous version returned the row.
      proof: row.maybeText('proof'),
      fence: row.maybeNumber('fence'),
      notBefore: row.maybeNumber('not_before'),
      lapsed: row.maybeNumber('lapsed') === 1 || error === ABANDONED_INTERRUPTED,
    },
    state,
  );
}
