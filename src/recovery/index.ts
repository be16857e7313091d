export type { DeliveryStatus, MissedReason } from './delivery-status.js';
export type { EndpointState } from './endpoint.js';
export type { Finding, FindingKind } from './findings.js';
export type { RecoverOptions } from './options.js';
export type { LogCounts } from './read-log.js';
export type { Reconciliation } from './reconcile.js';
export type { DeliveredFunction, ReadableLedger, ReconcileOptions } from './reconcile-options.js';
export { type Recovery, recover } from './recover.js';
export type { Remedy } from './remedies.js';
export type { Recovered, RecoveredOutcome } from './results.js';
export { reconcile, type Schedule, type ScheduleOptions } from './schedule.js';
export type {
  RecoverableReceiver,
  RecoveryClient,
  RecoveryProgress,
  SourceOptions,
} from './source.js';
