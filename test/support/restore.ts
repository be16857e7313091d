import { afterAll, vi } from 'vitest';
import { removeNewFolders } from './folders.js';

// Files share a worker: what one has put in place of the clock, of functions or of the environment ends with it.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  removeNewFolders();
});
