import { tooOld } from '../../errors/too-old.js';

/** @throws {UsageError} `version_unsupported` if this version of `@opentelemetry/api` has no metrics. */
export function checkApi(api: object): void {
  if ('metrics' in api) return;
  const name = '@opentelemetry/api';
  throw tooOld('openTelemetry()', `${name} 1.3`, 'an earlier version', `${name}@latest`);
}
