import type { Telemetry } from '../telemetry.js';
import { type OpenTelemetryOptions, Watching } from './telemetry.js';

export type { OpenTelemetryOptions } from './telemetry.js';

/**
 * Traces and counts deliveries, for `createReceiver({ telemetry })`. Create one for each program, after its
 * OpenTelemetry SDK. No span and no metric contains a payload, a secret or an error message.
 *
 * @example
 * createReceiver({ secret, store, telemetry: openTelemetry({ store }) });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  return new Watching(options);
}
