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

/** Longer than the pause between two tries to record an outcome. */
const EARLIER_MS = 2_000;

/** A platform that may stop with each response, and go on with the next request. */
export class StoppingHost {
  #earlier: Promise<unknown> | undefined;
  /** Whether a response has waited in vain for work that goes on, such as a handler that never ends. */
  #isStuck = false;

  /**
   * Waits for the record that an earlier request may have left behind: the store may have recovered since then. Await it
   * before a request is processed.
   */
  async begin(): Promise<void> {
    if (this.#earlier) await isOver(this.#earlier, EARLIER_MS);
  }

  /**
   * Waits for the work that a response does not wait for.
   *
   * @param context - The context of the invocation, if the platform has one.
   * @returns The response to send. If the time is over before the store has the record, the response is 503, so that the
   *   provider retries the delivery, unless that would repeat a plain handler: then the response is the one given.
   */
  async end(received: Received, context?: Partial<LambdaContext>): Promise<Received> {
    const { recorded, retryUnrecorded } = received;
    this.#earlier = recorded;
    if (!recorded) return received;
    const leftMs = context?.getRemainingTimeInMillis?.();
    // If a delivery is done and its own record is missing, `retryUnrecorded` is true or false.
    const isOthers = retryUnrecorded === undefined;
    const unknownMs = this.#isStuck && isOthers ? EARLIER_MS : UNKNOWN_MS;
    if (await isOver(recorded, leftMs === undefined ? unknownMs : leftMs - RESPONSE_MS))
      return received;
    if (leftMs === undefined) this.#stickAt(recorded);
    return retryUnrecorded ? toResponse({ outcome: 'unavailable', ran: [] }) : received;
  }

  /** Lets further responses wait less for the work of others until this has ended: each of them would wait for it. */
  #stickAt(work: Promise<unknown>): void {
    this.#isStuck = true;
    const end = () => {
      this.#isStuck = false;
    };
    work.then(end, end);
  }
}

function isOver(work: Promise<unknown>, ms: number): Promise<boolean> {
  return withTimeout(work, 'Late work', ms).then(
    () => true,
    () => false,
  );
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
