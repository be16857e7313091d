import { join } from 'node:path';
import { withInstalled } from '../support/installed.js';

/** The path of a file that `npm --prefix test/runtimes ci` installs. */
export const installed = (file: string) => join(import.meta.dirname, 'node_modules', file);

/** Tests that need other runtimes, which take 1.3 GB. */
export const withRuntimes = (name: string, tests: () => void) =>
  withInstalled('test/runtimes', name, tests);
