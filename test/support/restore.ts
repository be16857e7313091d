import { afterAll, vi } from 'vitest';
import { removeNewFolders } from './folders.js';

const CLOCK = ['setTimeout', 'setInterval', 'setImmediate', 'performance', 'Date'] as const;
const clock = CLOCK.map((name) => globalThis[name]);

// Files share a worker, so a replaced clock, function or environment variable ends with its file.
afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  removeNewFolders();
  // Otherwise the next file would wait forever without a reason in its output.
  const left = CLOCK.filter((name, index) => globalThis[name] !== clock[index]);
  CLOCK.forEach((name, index) => {
    Reflect.set(globalThis, name, clock[index]);
  });
  if (left.length > 0) throw new Error(`This file leaves its own ${left.join(', ')} to the next.`);
});

// The default of vitest, one second, is too short on a busy machine.
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
