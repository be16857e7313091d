import { join } from 'node:path';
import { withInstalled } from '../support/installed.js';

/** The path of something that `npm --prefix test/runtimes ci` has installed. */
export const installed = (file: string) => join(import.meta.dirname, 'node_modules', file);

/** Tests that need other runtimes. These take 1.3 GB. */
export const withRuntimes = (name: string, tests: () => void) =>
  withInstalled('test/runtimes', name, tests);
