import { afterAll, vi } from 'vitest';
import { removeNewFolders } from './folders.js';

const CLOCK = ['setTimeout', 'setInterval', 'setImmediate', 'performance', 'Date'] as const;
const clock = CLOCK.map((name) => globalThis[name]);

// Files share a worker: what one has put in place of the clock, of functions or of the environment ends with it.
afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  removeNewFolders();
  // The next file would wait for ever, and nobody would know why.
  const left = CLOCK.filter((name, index) => globalThis[name] !== clock[index]);
  CLOCK.forEach((name, index) => {
    Reflect.set(globalThis, name, clock[index]);
  });
  if (left.length > 0) throw new Error(`This file leaves its own ${left.join(', ')} to the next.`);
});

// One second, which is what vitest waits, is too little on a machine that does something else beside.
const PATIENCE_MS = 60_000;
const { waitFor, waitUntil } = vi;

function patient<Options extends { timeout?: number }>(options: Options | number | undefined) {
  return typeof options === 'number' ? options : { timeout: PATIENCE_MS, ...options };
}

// A worker runs this for each of its files.
if (!Reflect.has(vi, 'isPatient')) {
  vi.waitFor = (callback, options) => waitFor(callback, patient(options));
  vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));
  Reflect.set(vi, 'isPatient', true);
}
