import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, type TestContext, test } from 'vitest';
import { removeFolders, run, specifiers, USERS } from './folder.js';
import { compile, isUnreachable, makeProject, pack } from './packed.js';
import { names, packages, types } from './surface.js';

// It builds, packs and installs; the compiler reads the types of four frameworks.
const timeout = 180_000;

let bare: string;
let typed: string;
let unreachable: string | undefined;

beforeAll(async () => {
  const tarball = await pack();
  try {
    bare = await makeProject(tarball, ['@opentelemetry/api']);
    const types = ['@types/aws-lambda', '@types/express', '@types/koa', '@types/node'];
    typed = await makeProject(tarball, [...types, '@opentelemetry/api', 'fastify', 'hono', 'koa']);
  } catch (error) {
    if (process.env.CI || !isUnreachable(error)) throw error;
    unreachable = "npm's registry cannot be reached";
    console.warn(`The tests of the packed package are skipped: ${unreachable}.`);
  }
}, timeout);

test('every subpath is among those that are compiled', () => {
  const source = readFileSync(join(USERS, 'mounts.ts'), 'utf8');
  const found = Array.from(source.matchAll(/'(storefront-webhooks[^']*)'/g), ([, name]) => name);
  expect(found.sort()).toEqual([...specifiers].sort());
});

afterAll(removeFolders);

// These install the package and what it needs: without npm's registry they cannot be tried, and CI fails.
const skipOffline = (context: TestContext) => context.skip(unreachable !== undefined, unreachable);

describe('where no framework is installed', { timeout }, () => {
  beforeEach(skipOffline);

  const printedBy = async (file: string, ...args: string[]) =>
    JSON.parse(await run(bare, process.execPath, file, ...args));

  test('each subpath gives its names to an ES module, and no others', async () => {
    expect(bySubpath(await printedBy('names.mjs', ...specifiers))).toEqual(names);
  });

  test('each subpath gives the same names to CommonJS', async () => {
    expect(bySubpath(await printedBy('names.cjs', ...specifiers))).toEqual(names);
  });

  test.each(['deliver.mjs', 'deliver.cjs'])('%s handles what is genuine only', async (file) => {
    expect(await printedBy(file)).toEqual({
      node: '200 handled',
      nodeForged: '401 rejected',
      fetch: '200 handled',
      fetchForged: '401 rejected',
      handled: 2,
      isSameClass: true,
    });
  });

  test('each subpath loads the packages that it needs, and no others', async () => {
    const loaded: Record<string, string[]> = {};
    for (const one of specifiers) loaded[one] = await printedBy('loaded.cjs', one);
    expect(bySubpath(loaded)).toEqual(packages);
  });
});

describe('in TypeScript', { timeout }, () => {
  beforeEach(skipOffline);

  test.each(Object.entries(types))('%s names its types, and no others', (subpath, expected) => {
    const file = join(typed, 'node_modules/storefront-webhooks/dist', `${subpath}.d.ts`);
    const [, exported = ''] = /^export \{(.*)\};$/m.exec(readFileSync(file, 'utf8')) ?? [];
    const all = exported.split(',').map((name) => name.replace('type ', '').trim());
    expect(all.filter((name) => !names[subpath]?.includes(name)).sort()).toEqual(expected);
  });

  test('every subpath fits where it is mounted, with moduleResolution bundler', async () => {
    expect(await compile(typed, ['mounts.ts'], ['esnext', 'bundler'])).toBe('');
  });

  test('every subpath fits where it is mounted, with node16, in ESM and in CommonJS', async () => {
    expect(await compile(typed, ['mounts.mts', 'mounts.cts'], ['node16', 'node16'])).toBe('');
  });
});

/** Under the names that `exports` gives them, such as `./express`. */
function bySubpath(values: Readonly<Record<string, string[]>>): Record<string, string[]> {
  const entries = Object.entries(values);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.replace('storefront-webhooks', '.'), value]),
  );
}
