import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { entryPoints } from './tsup.config.js';

/** The package's own subpaths, from their sources. */
const alias = Object.entries(entryPoints).map(([name, source]) => ({
  find: new RegExp(`^storefront-webhooks${name === 'index' ? '' : `/${name}`}$`),
  replacement: resolve(source),
}));

const shared = {
  globalSetup: 'test/support/build.ts',
  setupFiles: 'test/support/restore.ts',
  // For a machine that stalls, or does something else beside; no test waits so long for anything.
  testTimeout: 180_000,
  // Some start several servers, beside others that do.
  hookTimeout: 180_000,
};

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-lines.ts'],
    // What the library says on stderr has tests of its own, and would hide what a test says.
    onConsoleLog: (log) => !log.startsWith('storefront-webhooks: '),
    // Most of the time, most of them wait: for a lease to lapse, for a process to start.
    maxWorkers: 3 * availableParallelism(),
    projects: [
      {
        resolve: { alias },
        test: {
          ...shared,
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: ['test/full/**', 'test/adapters/**'],
          // A file takes what is loaded already: to load the sources anew takes longer than most files do.
          isolate: false,
        },
      },
      {
        // Frameworks replace globals, such as Request: each file has a process of its own.
        resolve: { alias },
        test: { ...shared, name: 'adapters', include: ['test/adapters/**/*.test.ts'] },
      },
      {
        resolve: { alias },
        test: {
          ...shared,
          name: 'full',
          include: ['test/full/**/*.test.ts', 'bench/**/*.test.mjs'],
        },
      },
    ],
  },
});
