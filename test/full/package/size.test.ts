import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { blocks, pageAt } from '../../docs/pages.js';
import { BUDGETS, bundle } from '../../package/bundle.js';
import { build, removeFolders } from '../../package/folder.js';

let folder: string;
beforeAll(async () => {
  folder = await build({ types: false });
});
afterAll(removeFolders);

// `npm run size` shows the parts.
for (const { name, bytes, without } of BUDGETS) {
  test(`a Worker ${name} does not grow`, async () => {
    const { gzipped } = await bundle(folder, { without });
    expect(gzipped).toBeLessThanOrEqual(bytes);
  });
}

test('the README and docs/mount.md state the size of a Worker, alone and with the store of the example', async () => {
  const mount = pageAt('docs/mount.md');
  const example = blocks(mount, 'ts').find((code) => code.includes('WebhookDeliveries'));
  const sizeOf = async (code?: string) => {
    const { gzipped } = await bundle(folder, code === undefined ? {} : { code });
    return `${Math.round(gzipped / 1_000)} KB`;
  };
  const alone = await sizeOf();
  expect(pageAt('README.md').text).toContain(`A Worker takes ${alone}.`);
  expect(mount.text).toContain(
    `a Worker takes ${alone}, minified and gzipped, and this one, with its store, ${await sizeOf(example)}.`,
  );
});

/** By version of Node, 1 % above the figure, which each run repeats to 0.1 %. */
const MOST_ALLOCATED: Readonly<Record<string, number>> = { 20: 30_900, 22: 31_100 };

test('a delivery allocates no more than it did', () => {
  const young = ['--min-semi-space-size=256', '--max-semi-space-size=256'];
  const command = ['--expose-gc', '--single-threaded', ...young, 'test/package/allocations.mjs'];
  const options = { encoding: 'utf8', stdio: 'pipe' } as const;
  const bytes = Number(execFileSync(process.execPath, [...command, folder], options));
  const [major = ''] = process.versions.node.split('.');
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThanOrEqual(MOST_ALLOCATED[major] ?? 32_400);
});

test('the command loads the library and its subcommands only when they are needed', () => {
  const { files, bytes, packages } = loadedBy('cli');
  expect(packages).toEqual([]);
  expect(files.some((file) => /sandbox|doctor|check|send/.test(file))).toBe(false);
  expect(bytes).toBeLessThanOrEqual(170_000);
});

const SERVERS = [
  ['Node', ['node', 'import']],
  ['Bun', ['bun', 'node', 'import']],
  ['Deno', ['deno', 'node', 'import']],
] as const;

test.each(SERVERS)('the package loads only the schema library on %s', (_, conditions) => {
  const { packages } = loadedBy('index', conditions);
  expect(packages).toEqual(['zod/mini', 'zod/v4/core']);
});

test.each(SERVERS)(
  'the subpath for the signature alone loads no package on %s',
  (_, conditions) => {
    const { bytes, packages } = loadedBy('signature', conditions);
    expect(packages).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(20_000);
  },
);

test('a Worker loads the portable hashing', () => {
  const { packages } = loadedBy('index', ['workerd', 'import']);
  expect(packages).toContain('@noble/hashes/sha2.js');
});

const STATIC_IMPORT = /^(?:import|\} from) *(?:[^'"\n]* from *)?["']([^"']+)["'];$/gm;

interface Loaded {
  readonly files: readonly string[];
  readonly bytes: number;
  readonly packages: readonly string[];
}

/** Returns the files that an entry of the built package loads at its start, and their imported packages. */
function loadedBy(entry: string, conditions: readonly string[] = []): Loaded {
  const files = new Set([join(folder, 'dist', `${entry}.js`)]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)) {
      if (from.startsWith('.')) files.add(join(file, '..', from));
      else if (from.startsWith('#')) files.add(join(folder, choose(IMPORTS[from], conditions)));
      else if (!isBuiltin(from)) packages.add(from);
    }
  }
  const bytes = [...files].reduce((sum, file) => sum + statSync(file).size, 0);
  return { files: [...files], bytes, packages: [...packages].sort() };
}

const IMPORTS: Readonly<Record<string, unknown>> = manifest.imports;

/** Returns the file of the first condition that holds, as runtimes and bundlers do. */
function choose(target: unknown, conditions: readonly string[]): string {
  if (typeof target === 'string') return target;
  const found = Object.entries(target ?? {}).find(
    ([condition]) => condition === 'default' || conditions.includes(condition),
  );
  if (found === undefined) throw new Error('No condition of an import holds');
  return choose(found[1], conditions);
}
