import { toResponse, type WebhookResponse } from '../../src/request/outcome.js';
import { withTimeout } from '../../src/runtime/timing.js';

type Received = WebhookResponse<string | Uint8Array>;

/** The part of Lambda's context that this package uses. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** How long to wait if nothing shows how much time is left: as long as for a store, and as many senders wait. */
const UNKNOWN_MS = 10_000;
/** The time in which a response leaves. */
const RESPONSE_MS = 500;

/**
 * Waits for the work that a response does not wait for, on a platform that may stop with the response.
 *
 * @param context - The context of the invocation, if the platform has one.
 * @returns The response to send. If the time is over before the store has the record, the response is 503, so that the
 *   provider retries the delivery, unless that would repeat a plain handler: then the response is the one given.
 */
export async function waitForLate(
  received: Received,
  context?: Partial<LambdaContext>,
): Promise<Received> {
  const { recorded, retryUnrecorded } = received;
  if (!recorded) return received;
  const leftMs = context?.getRemainingTimeInMillis?.() ?? UNKNOWN_MS + RESPONSE_MS;
  const isOver = await withTimeout(recorded, 'Late work', leftMs - RESPONSE_MS).then(
    () => true,
    () => false,
  );
  return isOver || !retryUnrecorded ? received : toResponse({ outcome: 'unavailable', ran: [] });
}

/** Keeps a platform running until a promise settles. */
export type WaitUntil = (promise: Promise<unknown>) => unknown;

/** Returns the `waitUntil` of a context, if it has one. */
export function waitUntilOf(context: unknown): WaitUntil | undefined {
  return hasMethod(context, 'waitUntil') ? (promise) => context.waitUntil(promise) : undefined;
}

/** Whether a value, which may be anything, has a method of this name. */
export function hasMethod<Name extends string>(
  value: unknown,
  name: Name,
): value is Record<Name, (...args: readonly unknown[]) => unknown> {
  return (
    typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function'
  );
}
