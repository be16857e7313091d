import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, type TestContext, test } from 'vitest';
import { readManifest, subpaths } from '../../package/entries.js';
import { removeFolders, run, USERS } from '../../package/folder.js';
import { compile, isUnreachable, makeProject, pack, toSpecifier } from '../../package/packed.js';
import { start } from '../../support/start.js';

// Builds, packs and installs the package; the compiler reads the types of four frameworks.
const timeout = 600_000;

let bare: string;
let typed: string;
let unreachable: string | undefined;

beforeAll(async () => {
  const tarball = await pack();
  try {
    bare = await makeProject(tarball, ['@opentelemetry/api']);
    typed = await makeProject(tarball, ['@opentelemetry/api', '@types/node', ...mounted()]);
  } catch (error) {
    if (process.env.CI || !isUnreachable(error)) throw error;
    unreachable = "npm's registry cannot be reached";
    console.warn(`The tests of the packed package are skipped: ${unreachable}.`);
  }
}, timeout);

/** The packages that mounts.ts imports, or their types. */
function mounted(): string[] {
  const { devDependencies } = JSON.parse(readManifest().text);
  const source = readFileSync(join(USERS, 'mounts.ts'), 'utf8');
  const imported = Array.from(source.matchAll(/from '([^':]+)';/g), ([, name = '']) => name);
  const others = imported.filter((name) => !name.startsWith('storefront-webhooks'));
  return others.map((name) => (`@types/${name}` in devDependencies ? `@types/${name}` : name));
}

test('package.json exports each entry point, as `npm run entries` writes it', () => {
  const { text, expected } = readManifest();
  expect(text).toBe(expected);
});

afterAll(removeFolders);

// These tests install the package with its dependencies. They need npm's registry, and without it CI fails.
const skipOffline = (context: TestContext) => context.skip(unreachable !== undefined, unreachable);

describe('without any framework', { timeout }, () => {
  beforeEach(skipOffline);

  const printedBy = async (file: string, ...args: string[]) =>
    JSON.parse(await run(bare, process.execPath, file, ...args));

  const loaded = new Map<string, Promise<string[]>>();
  /** Returns the packages that a subpath loads, in a process of its own. */
  const loadedBy = (subpath: string) => {
    const packages = loaded.get(subpath) ?? printedBy('loaded.cjs', toSpecifier(subpath));
    loaded.set(subpath, packages);
    return packages;
  };

  // `npm run entries` writes surface.txt.
  test('each subpath has the names and types, and loads the packages, that surface.txt lists', async () => {
    const specifiers = Object.keys(subpaths).map(toSpecifier);
    const allNames: string[][] = await printedBy('names.mjs', ...specifiers);
    expect(await printedBy('names.cjs', ...specifiers), 'in CommonJS').toEqual(allNames);
    const surface: string[] = [];
    for (const [index, [subpath, file]] of Object.entries(subpaths).entries()) {
      const names = allNames[index] ?? [];
      const packages = await loadedBy(subpath);
      const types = typesOf(file).filter((name) => !names.includes(name));
      const lines = [
        ...names,
        ...types.map((name) => `type ${name}`),
        ...(packages.length > 0 ? [`loads ${packages.join(', ')}`] : []),
      ];
      surface.push(`${subpath}\n${lines.map((line) => `  ${line}\n`).join('')}`);
    }
    await expect(surface.join('\n')).toMatchFileSnapshot('../../package/surface.txt');
  });

  test.each(['deliver.mjs', 'deliver.cjs'])('%s handles only genuine deliveries', async (file) => {
    expect(await printedBy(file)).toEqual({
      node: '200 handled',
      nodeForged: '401 rejected',
      fetch: '200 handled',
      fetchForged: '401 rejected',
      handled: 2,
      isSameClass: true,
    });
  });

  test('only the receiver, goods, the client, recovery, the sandbox and the testing tools load the schema library', async () => {
    const others = Object.keys(subpaths).filter(
      (subpath) => !/^\.(\/(api|testing|goods|recovery|sandbox))?$/.test(subpath),
    );
    for (const subpath of others) expect(await loadedBy(subpath), subpath).not.toContain('zod');
  });

  test('the command serves the storefront', async () => {
    const bin = join(bare, 'node_modules/.bin/storefront-webhooks');
    const sandbox = await start(bin, ['sandbox', '--port', '0'], { cwd: bare });
    try {
      const headers = { authorization: 'Bearer sk_test_demo' };
      const response = await fetch(`${sandbox.origin}/api/v2/orders`, { headers });
      expect([response.status, await response.text()]).toEqual([200, '[]']);
      sandbox.terminate();
      expect(await sandbox.ended).toBe(0);
    } finally {
      await sandbox.stop();
    }
  });

  function typesOf(file: string): string[] {
    const dist = join(bare, 'node_modules/storefront-webhooks/dist');
    const declarations = readFileSync(join(dist, `${file}.d.ts`), 'utf8');
    const lists = Array.from(declarations.matchAll(/^export \{(.*?)\}/gm), ([, list = '']) => list);
    const exported = lists.flatMap((list) => list.split(','));
    return exported.map((name) => name.replace(/type |.* as /g, '').trim()).sort();
  }
});

describe('in TypeScript', { timeout }, () => {
  beforeEach(skipOffline);

  test('every subpath fits its framework, with moduleResolution bundler', async () => {
    const files = ['mounts.ts', 'subpaths.ts'];
    expect(await compile(typed, files, ['esnext', 'bundler'], {}, 'typescript-7')).toBe('');
  });

  test('every subpath fits its framework, with node16, in ESM and in CommonJS', async () => {
    const files = ['mounts.mts', 'mounts.cts', 'subpaths.mts', 'subpaths.cts'];
    expect(await compile(typed, files, ['node16', 'node16'])).toBe('');
  });
});
