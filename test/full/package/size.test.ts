import { readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { BUDGETS, bundle } from '../../package/bundle.js';
import { build, removeFolders } from '../../package/folder.js';

afterAll(removeFolders);

// `npm run size` shows the parts.
for (const { name, bytes, without } of BUDGETS) {
  test(`a Worker ${name} does not grow`, async () => {
    const { gzipped } = await bundle(await build({ types: false }), { without });
    expect(gzipped).toBeLessThanOrEqual(bytes);
  });
}

test('the command loads the library and its subcommands only when they are needed', async () => {
  const { files, packages } = loadedBy(join(await build({ types: false }), 'dist', 'cli.js'));
  expect(packages).toEqual([]);
  expect(files.some((file) => /sandbox|doctor|check|send/.test(file))).toBe(false);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  expect(bytes).toBeLessThanOrEqual(175_000);
});

const STATIC_IMPORT = /^(?:import|\} from) *(?:[^'"\n]* from *)?["']([^"']+)["'];$/gm;

/** Returns the files that a module loads at its start, and their imported packages. */
function loadedBy(entry: string): { files: readonly string[]; packages: readonly string[] } {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)) {
      if (from.startsWith('.')) files.add(join(file, '..', from));
      else if (!isBuiltin(from)) packages.add(from);
    }
  }
  return { files: [...files], packages: [...packages] };
}
