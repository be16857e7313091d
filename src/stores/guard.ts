import { WebhookError } from '../errors/errors.js';
import { writeLine } from '../errors/log.js';
import { withTimeout } from '../runtime/timing.js';
import { forward } from './contract.js';
import type { Claim, IdempotencyStore } from './store.js';

/**
 * Wraps a store for the receiver, so that every fault of a verb becomes a rejected promise within a time limit. A
 * verb that throws synchronously, returns a plain value, hangs, or returns an invalid value must not end the
 * process, block a delivery forever, or have it processed twice.
 */
export function guardStore(store: IdempotencyStore): IdempotencyStore {
  const ended = listening(store);
  const claim: IdempotencyStore['claim'] = async (delivery, lease) => {
    // Release a lease that arrives too late to be used. If it expired instead, that would count as a crash.
    const giveBack = (late: Claim) =>
      late?.state === 'acquired' ? store.release(delivery.key, late.fence) : undefined;
    return checkClaim(await guard(() => store.claim(delivery, lease), ended, giveBack));
  };
  return forward(store, { claim }, (call) => guard(call, ended));
}

async function guard<Value>(
  call: () => Promise<Value>,
  ended: (error?: unknown) => void,
  onLate: (value: Value) => unknown = () => {},
): Promise<Value> {
  let isLate = false;
  try {
    const called = Promise.resolve(call());
    called.then((value) => isLate && onLate(value)).catch(() => {});
    const value = await withTimeout(called, 'The store');
    ended();
    return value;
  } catch (error) {
    isLate = true;
    ended(error);
    throw withoutData(error);
  }
}

/**
 * Returns an error without the fields that some drivers add: the command with all of its values, or the row, and
 * so the payload.
 */
export function withoutData(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof WebhookError) return error;
  const { name, message, stack } = error;
  const plain = Object.assign(new Error(message), { name, stack });
  return 'code' in error ? Object.assign(plain, { code: error.code }) : plain;
}

function checkClaim(claim: Claim): Claim {
  switch (claim?.state) {
    case 'acquired':
      if (Number.isSafeInteger(claim.fence) && typeof claim.steps === 'object' && claim.steps)
        return claim;
      break;
    case 'busy':
    case 'done':
    case 'dead':
    case 'gone':
      return claim;
  }
  throw new WebhookError(
    'store_invalid',
    'The store returned a claim that does not fit IdempotencyStore.',
  );
}

/** How long a call may wait before the store ends its connection, if the client allows that. */
export const SILENCE_MS = 5_000;

/** A single call may be slow. After this many time-outs in a row, the connection is most likely dead. */
const IN_A_ROW = 3;
const MINUTE_MS = 60_000;

/** Returns a function that takes the result of each call, and warns on stderr after several time-outs in a row. */
export function listening({ description = 'the store', whenSilent = '' }: IdempotencyStore) {
  let inARow = 0;
  let reportedAt = -MINUTE_MS;
  return (error?: unknown): void => {
    inARow = isTimeout(error) ? inARow + 1 : 0;
    if (inARow < IN_A_ROW || performance.now() - reportedAt < MINUTE_MS) return;
    reportedAt = performance.now();
    const what = `${description} has not answered ${inARow} calls in a row: it is overloaded, or its connection is dead.`;
    writeLine(`${what} ${whenSilent}`.trimEnd(), 'operate.md#store-silent');
  };
}

/** Returns whether an error is a time-out, of this library or of any driver. */
function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'timed_out') return true;
  // If the server itself reports a time-out, it has answered, and the error has a SQLSTATE.
  return /timed?[ -]?out/i.test(error.message) && !/^[0-9A-Z]{5}$/.test(`${code}`);
}
