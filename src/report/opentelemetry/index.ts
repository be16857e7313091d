import * as api from '@opentelemetry/api';
import { refuseUnknownOption } from '../../errors/text.js';
import type { Telemetry } from '../telemetry.js';
import { checkApi } from './check-api.js';
import { type OpenTelemetryOptions, Watching } from './telemetry.js';

export type { OpenTelemetryOptions } from './telemetry.js';

const NAMES = [
  'tracerProvider',
  'meterProvider',
  'store',
] as const satisfies readonly (keyof OpenTelemetryOptions)[];

/**
 * Traces and counts deliveries, for `createReceiver({ telemetry })`. Create one for each program, after its
 * OpenTelemetry SDK. No span and no metric contains a payload, a secret or an error message.
 * @throws {UsageError} `option_invalid` for an unknown option; `version_unsupported` before version 1.3 of
 *   `@opentelemetry/api`.
 *
 * @example
 * createReceiver({ secret, store, telemetry: openTelemetry({ store }) });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  checkApi(api);
  refuseUnknownOption('openTelemetry()', options, NAMES);
  return new Watching(options);
}
