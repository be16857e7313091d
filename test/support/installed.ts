import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';

/**
 * Tests that need what a folder of its own installs, which is too much for everybody's `npm ci`. Where it is not
 * installed, one skipped test says so instead of thousands; in CI, it has to be.
 */
export function withInstalled(folder: string, name: string, tests: () => void): void {
  if (existsSync(join(folder, 'node_modules')) || process.env.CI) describe(name, tests);
  else test.skip(`${name}: npm --prefix ${folder} ci would install what they need`, () => {});
}
