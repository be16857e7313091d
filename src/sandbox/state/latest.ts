import { isJsonObject } from '../../schemas/values.js';
import type { KeptRecord } from './journal.js';

/** Returns the latest timestamp in the records; `undefined` if there is none. */
export function findLatest(records: readonly KeptRecord[]): string | undefined {
  let latest: string | undefined;
  for (const { value } of records) {
    for (const time of timesIn(value)) if (latest === undefined || time > latest) latest = time;
  }
  return latest;
}

/**
 * Returns when a record was created and updated. An order has these times in what it shows, and the log of a
 * webhook has those of a record that may be deleted by now in its payload.
 */
function timesIn(value: unknown): string[] {
  if (!isJsonObject(value)) return [];
  const holders = [value, value.shown, value.payload].filter(isJsonObject);
  return holders
    .flatMap(({ created_at, updated_at }) => [created_at, updated_at])
    .filter((time) => typeof time === 'string');
}
