// The parts of a receiver that only a process of its own needs. `own-process.worker.ts` replaces them on Workers, where
// no server is stopped.

export { Load } from './load.js';
export { drain } from './server-drain.js';
