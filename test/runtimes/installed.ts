import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';

const MODULES = join(import.meta.dirname, 'node_modules');

/** The path of something that `npm --prefix test/runtimes ci` has installed. */
export const installed = (file: string) => join(MODULES, file);

/**
 * Tests that need other runtimes. These take 1.3 GB, which is too much for everybody's `npm ci`: where they
 * are not installed, one skipped test says so instead of thousands; in CI, they have to be.
 */
export function withRuntimes(name: string, tests: () => void): void {
  if (existsSync(MODULES) || process.env.CI) describe(name, tests);
  else test.skip(`${name}: npm --prefix test/runtimes ci would install what they need`, () => {});
}
