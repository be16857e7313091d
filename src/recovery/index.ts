export type { EndpointState } from './endpoint.js';
export type { LogCounts } from './missed.js';
export type {
  RecoverableReceiver,
  RecoverOptions,
  RecoverProgress,
  RecoveryClient,
} from './options.js';
export { type Recovery, recover } from './recover.js';
export type { Recovered, RecoveredOutcome } from './recovered.js';
export type { MissedReason, Standing } from './standing.js';
