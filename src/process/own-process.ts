// The parts of a receiver that only a process of its own needs. `own-process.worker.ts` replaces them on Workers, where
// no server is stopped.

import { HAS_PROCESS } from '../runtime/has-process.js';

export { Load } from './load.js';
export { drain } from './server-drain.js';

/** How long claiming and settling may take in addition to the handlers. */
const GRACE_MS = 30_000;

/** The longest that the copies of a delivery wait for the first one. */
export const longestMs = (timeoutMs: number): number =>
  HAS_PROCESS ? timeoutMs + GRACE_MS : 3_000;
