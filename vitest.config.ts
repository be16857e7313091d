import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { entryPoints } from './tsup.config.js';

/** The package's own subpaths, from their sources. */
const alias = Object.entries(entryPoints).map(([name, source]) => ({
  find: new RegExp(`^storefront-webhooks${name === 'index' ? '' : `/${name}`}$`),
  replacement: resolve(source),
}));

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['test/**/*.test.ts', 'bench/**/*.test.mjs'],
    reporters: ['default', './test/support/closing-lines.ts'],
    // Most of the time, most of them wait: for a lease to lapse, for a process to start.
    maxWorkers: 2 * availableParallelism(),
    // What the library says on stderr has tests of its own, and would hide what a test says.
    onConsoleLog: (log) => !log.startsWith('storefront-webhooks: '),
    // For a machine that stalls, or does something else beside; no test waits so long for anything.
    testTimeout: 180_000,
    // Some start several servers, beside others that do.
    hookTimeout: 180_000,
  },
});
