import { WebhookError } from '../errors.js';
import { writeLine } from '../log.js';
import type { IdempotencyStore } from './store.js';

/** How long a call waits before the connection under it is ended, where its client lets the store do so. */
export const SILENCE_MS = 5_000;

/** One call may be slow; so many in a row have most likely asked a connection that is dead. */
const IN_A_ROW = 3;
const MINUTE_MS = 60_000;

/** Counts the calls that were not answered in time, and tells of it. */
export class Silence {
  readonly #store: IdempotencyStore;
  #inARow = 0;
  #toldAt = -MINUTE_MS;

  constructor(store: IdempotencyStore) {
    this.#store = store;
  }

  answered(): void {
    this.#inARow = 0;
  }

  failed(error: unknown): void {
    this.#inARow = isTimeout(error) ? this.#inARow + 1 : 0;
    const now = performance.now();
    if (this.#inARow < IN_A_ROW || now - this.#toldAt < MINUTE_MS) return;
    this.#toldAt = now;
    const { description = 'the store', whenSilent = '' } = this.#store;
    const line = `${description} has not answered ${this.#inARow} calls in a row: its connection may be dead.`;
    writeLine(`${line} ${whenSilent}`.trimEnd());
  }
}

/** Whether nothing has come back in time: by the error of this library, or of whichever driver. */
export function isTimeout(error: unknown): boolean {
  if (error instanceof WebhookError) return error.code === 'timed_out';
  if (!(error instanceof Error)) return false;
  // A server that says that it has waited for too long has answered, with a SQLSTATE.
  const isAnswer = 'code' in error && /^[0-9A-Z]{5}$/.test(`${error.code}`);
  return !isAnswer && /timed?[ -]?out/i.test(`${error.name} ${error.message}`);
}
