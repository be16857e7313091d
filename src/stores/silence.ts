import { writeLine } from '../report/log.js';
import type { IdempotencyStore } from './store.js';

/** How long a call waits before the connection under it is ended, where its client lets the store do so. */
export const SILENCE_MS = 5_000;

/** One call may be slow; so many in a row have most likely asked a connection that is dead. */
const IN_A_ROW = 3;
const MINUTE_MS = 60_000;

/** Told of each call, by its error where it has one; tells of those that were not answered in time. */
export function listening({ description = 'the store', whenSilent = '' }: IdempotencyStore) {
  let inARow = 0;
  let toldAt = -MINUTE_MS;
  return (error?: unknown): void => {
    inARow = isTimeout(error) ? inARow + 1 : 0;
    if (inARow < IN_A_ROW || performance.now() - toldAt < MINUTE_MS) return;
    toldAt = performance.now();
    const what = `${description} has not answered ${inARow} calls in a row: its connection may be dead.`;
    writeLine(`${what} ${whenSilent}`.trimEnd(), 'operate.md#store-silent');
  };
}

/** Whether nothing has come back in time: by the error of this library, or of whichever driver. */
function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'timed_out') return true;
  // A server that says that it has waited for too long has answered, with a SQLSTATE.
  return /timed?[ -]?out/i.test(error.message) && !/^[0-9A-Z]{5}$/.test(`${code}`);
}
