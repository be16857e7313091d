import { safely } from '../errors/log.js';
import type { Delivery } from '../request/delivery.js';
import type { Rejection, Result } from '../request/outcome.js';
import type { Transacted } from '../stores/store.js';

/** A verified delivery, as telemetry sees it: without its payload. */
export interface TracedDelivery {
  /** Not signed, so the sender can choose it. */
  readonly id: string;
  /** Not signed, so the sender can choose it. */
  readonly event: string;
  /** `known`: the receiver has a schema for the event, so the number of such names is limited. */
  readonly kind: Delivery['kind'];
  readonly scope: string;
  readonly source: Delivery['source'];
  /** The size of the raw body. */
  readonly bytes: number;
  /** `send`: the receiver stores the delivery in a queue. `process`: its handlers run. */
  readonly action: 'send' | 'process';
  /** The W3C trace context of the hand-off, if the delivery comes out of a queue. */
  readonly traceparent: string | undefined;
  /** When the receiver got the request or the job, on the clock of `performance.now()`. */
  readonly startedAt: number;
}

/** A handler that is about to run, as telemetry sees it. */
export interface TracedHandler {
  readonly name: string;
  readonly attempt: number;
}

/**
 * Observes a receiver. `delivery` and `handler` get the work as a function, and have to call it at once, in the
 * context in which it should run. Their results and errors are ignored. `openTelemetry()` of
 * `storefront-webhooks/opentelemetry` makes one.
 */
export interface Telemetry {
  delivery(about: TracedDelivery, run: () => Promise<Result>): unknown;
  /**
   * Called for each run of a handler. With `transaction`, the run is the whole transaction, and resolves to its end: if
   * the state is not `done`, the handler did not run, or what it wrote was rolled back. Otherwise it resolves to
   * `undefined`.
   */
  handler(about: TracedHandler, run: () => Promise<Transacted | undefined>): unknown;
  /** Called if a request was rejected before there was a delivery, most often because of its signature. */
  rejected(rejection: Rejection, startedAt: number): void;
  /** Called if a request could not be verified because of an error in the program. It was answered 500. */
  failed(error: unknown, startedAt: number): void;
  /** Called if a request was answered 503 because of overload, or because its sender disconnected before it was processed. */
  shed?(): void;
  /** Called when `confirm` has looked an order up. `kept`: it agreed with the answer of a recent request. */
  confirmed?(result: ConfirmationResult): void;
  /** Returns the W3C trace context of the active span. It travels with a delivery through a queue. */
  traceparent(): string | undefined;
}

/** The time at which processing began, and the action. */
export type Started = Pick<TracedDelivery, 'action' | 'startedAt'> &
  Partial<Pick<TracedDelivery, 'traceparent'>>;

/** Takes the facts for telemetry out of a delivery. */
export function trace(
  { id, event, kind, scope, source, rawBody }: Delivery,
  { action, startedAt, traceparent }: Started,
): TracedDelivery {
  const bytes = rawBody.length;
  return { id, event, kind, scope, source, bytes, action, startedAt, traceparent };
}

/** Runs the work once, whatever the observer does, if there is one, and returns the result of the work. */
export function watched<Value>(
  watch: ((run: () => Promise<Value>) => unknown) | undefined,
  run: () => Promise<Value>,
): Promise<Value> {
  if (!watch) return run();
  let running: Promise<Value> | undefined;
  const runOnce = () => {
    running ??= run();
    return running;
  };
  safely(() => watch(runOnce));
  return runOnce();
}

/** The result by which confirmations are counted. */
export type ConfirmationResult = 'agreed' | 'disagreed' | 'unavailable' | 'kept';
