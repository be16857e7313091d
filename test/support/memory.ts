import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Runs a full collection of garbage. */
export const collect: () => void = runInNewContext('gc');

/** Returns the bytes that are held outside of the heap, such as those of bodies. */
export function heldBytes(): number {
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}
