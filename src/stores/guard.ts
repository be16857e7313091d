import { WebhookError } from '../errors.js';
import { withTimeout } from '../timing.js';
import { forward } from './forward.js';
import { listening } from './silence.js';
import type { Claim, IdempotencyStore } from './store.js';

/**
 * A store as the receiver uses it: whatever goes wrong in one of its verbs is a rejected promise, and
 * in time. A verb that throws at once, gives a plain value, hangs, or gives rubbish must not bring a
 * process down, hold a delivery up for ever, or have one done twice.
 */
export function guardStore(store: IdempotencyStore): IdempotencyStore {
  const ended = listening(store);
  const claim: IdempotencyStore['claim'] = async (delivery, lease) => {
    // Nobody uses a lease that comes too late, and to let it lapse would count as a crash.
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
 * What went wrong, without what some drivers hang on their errors: the command with all of its values,
 * or the row, and with them the payload.
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
      return claim;
  }
  throw new WebhookError(
    'store_invalid',
    'The store gave no claim that fits the contract of IdempotencyStore.',
  );
}
