export type { EndpointState } from './endpoint.js';
export type { LogCounts } from './missed.js';
export type { RecoverOptions } from './options.js';
export type { Finding, FindingKind, Reconciliation } from './reconcile.js';
export type { DeliveredFunction, ReadableLedger, ReconcileOptions } from './reconcile-options.js';
export { type Recovery, recover } from './recover.js';
export type { Recovered, RecoveredOutcome } from './recovered.js';
export { reconcile, type Schedule, type ScheduleOptions } from './schedule.js';
export type {
  RecoverableReceiver,
  RecoveryClient,
  RecoveryProgress,
  SourceOptions,
} from './source.js';
export type { MissedReason, Standing } from './standing.js';
