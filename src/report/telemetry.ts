import type { Rejection, Result } from '../outcome.js';
import type { ConfirmationResult } from '../process/confirm.js';
import type { Delivery } from '../request/delivery.js';
import { harmless } from './harmless.js';

/** What telemetry is told of a verified delivery: nothing of its payload. */
export interface TracedDelivery {
  /** Not signed, and the sender's to choose. */
  readonly id: string;
  /** Not signed, and the sender's to choose. */
  readonly event: string;
  /** `known`: the event is one that the receiver has a schema for, so its names are few. */
  readonly kind: Delivery['kind'];
  readonly scope: string;
  readonly source: Delivery['source'];
  /** The size of the raw body. */
  readonly bytes: number;
  /** `send`: it is handed to a queue. `process`: its handlers run. */
  readonly action: 'send' | 'process';
  /** Where it was handed to a queue: the W3C trace context of that. */
  readonly traceparent: string | undefined;
  /** When the receiver got the request or the job, on the clock of `performance.now()`. */
  readonly startedAt: number;
}

/** What telemetry is told of a handler that is about to run. */
export interface TracedHandler {
  readonly name: string;
  readonly attempt: number;
}

/**
 * Watches a receiver. Each method is given what it watches as a function, and calls it at once, in the
 * context that it shall run in. What it gives or throws changes nothing. Made by `openTelemetry()` of
 * `storefront-webhooks/opentelemetry`.
 */
export interface Telemetry {
  delivery(about: TracedDelivery, run: () => Promise<Result>): unknown;
  handler(about: TracedHandler, run: () => Promise<unknown>): unknown;
  /** A request was refused before there was a delivery: most often, its signature did not hold. */
  rejected(rejection: Rejection, startedAt: number): void;
  /** A request could not even be verified: the receiver is set up wrong, and it was answered 500. */
  failed(error: unknown, startedAt: number): void;
  /** `confirm` has looked an order up; `kept`: it agreed with what was looked up a moment ago. */
  confirmed?(result: ConfirmationResult): void;
  /** The W3C trace context of what runs now, which travels with a delivery through a queue. */
  traceparent(): string | undefined;
}

/** When and for what a delivery was taken up. */
export type Started = Pick<TracedDelivery, 'action' | 'startedAt'> &
  Partial<Pick<TracedDelivery, 'traceparent'>>;

/** What telemetry is told of a delivery. */
export function trace(
  { id, event, kind, scope, source, rawBody }: Delivery,
  { action, startedAt, traceparent }: Started,
): TracedDelivery {
  const bytes = rawBody.length;
  return { id, event, kind, scope, source, bytes, action, startedAt, traceparent };
}

/** Runs what is watched: whatever the watcher does, it is run once, and what it gives is given. */
export function watched<Value>(
  watch: (run: () => Promise<Value>) => unknown,
  run: () => Promise<Value>,
): Promise<Value> {
  let running: Promise<Value> | undefined;
  const runOnce = () => {
    running ??= run();
    return running;
  };
  harmless(() => watch(runOnce));
  return runOnce();
}
