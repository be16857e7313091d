import type { Telemetry } from '../telemetry.js';
import { type OpenTelemetryOptions, Watching } from './watching.js';

export type { OpenTelemetryOptions } from './watching.js';

/**
 * Traces and counts what a receiver does, for `createReceiver({ telemetry })`. Make one for each program,
 * after its SDK. No payload, secret or error message is in any span or metric.
 *
 * @example
 * createReceiver({ secret, store, telemetry: openTelemetry({ store }) });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  return new Watching(options);
}
