import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';

/**
 * Tests that need packages of a separate folder, which are too large for the usual `npm ci`. Without them, one
 * skipped test explains it instead of thousands; in CI, they have to be installed.
 */
export function withInstalled(folder: string, name: string, tests: () => void): void {
  if (existsSync(join(folder, 'node_modules')) || process.env.CI) describe(name, tests);
  else test.skip(`${name}: npm --prefix ${folder} ci would install what they need`, () => {});
}
