import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { isNightly } from './test/support/tier.js';
import { entryPoints } from './tsup.config.js';

/** The package's own subpaths, from their sources. */
const alias = Object.entries(entryPoints).map(([name, source]) => ({
  find: new RegExp(`^storefront-webhooks${name === 'index' ? '' : `/${name}`}$`),
  replacement: resolve(source),
}));

const shared = {
  setupFiles: 'test/support/restore.ts',
};

/** A nightly run tries each property as often as it says, in every tier. */
const NIGHTLY_SECONDS = 180;

/** No test waits so long for anything. The limits are for a machine that stalls, and end a test that hangs. */
const within = (usual: number) => limits(isNightly ? NIGHTLY_SECONDS : usual);

const limits = (seconds: number) => ({
  testTimeout: seconds * 1000,
  // For test/support/patience.ts: a wait that fails reports its reason before the test's time is over.
  provide: { testLimitMs: seconds * 1000 },
  expect: { poll: { timeout: seconds * 750 } },
  // Some start several servers, beside others that do.
  hookTimeout: 2 * seconds * 1000,
});

// CI takes its counts from this file.
const report: [string, Record<string, unknown>][] = process.env.REPORT
  ? [['json', { outputFile: process.env.REPORT }]]
  : [];

export default defineConfig({
  test: {
    // Of the whole run: each project would build the package for itself.
    globalSetup: 'test/support/build.ts',
    reporters: ['default', './test/support/closing-lines.ts', ...report],
    // What the library says on stderr has tests of its own, and would hide what a test says.
    onConsoleLog: (log) => !log.startsWith('storefront-webhooks: '),
    // Most tests wait most of the time: for a lease to expire, for a process to start.
    maxWorkers: 2 * availableParallelism(),
    projects: [
      {
        resolve: { alias },
        test: {
          ...shared,
          ...within(20),
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{full,nightly,frameworks}/**', '**/node_modules/**'],
          // A file takes what is loaded already: to load the sources anew takes longer than most files do.
          isolate: false,
        },
      },
      {
        // Some frameworks replace globals, such as Request: each file that loads many of them has a process of its own.
        resolve: { alias },
        test: {
          ...shared,
          ...within(20),
          name: 'frameworks',
          include: ['test/frameworks/**/*.test.ts'],
        },
      },
      {
        resolve: { alias },
        test: {
          ...shared,
          ...within(60),
          name: 'full',
          include: ['test/full/**/*.test.ts'],
          // A test that passes then is flaky, and the closing lines name it.
          retry: 1,
        },
      },
      {
        resolve: { alias },
        test: {
          ...shared,
          ...limits(NIGHTLY_SECONDS),
          name: 'nightly',
          include: ['test/nightly/**/*.test.ts', 'bench/**/*.test.mjs'],
        },
      },
    ],
  },
});
