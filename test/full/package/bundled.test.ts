import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { subpaths } from '../../package/entries.js';
import { build, makeFolder, removeFolders, run } from '../../package/folder.js';

let folder: string;
beforeAll(async () => {
  folder = await build({ types: false });
});
afterAll(removeFolders);

const ALL = Object.keys(subpaths).map((subpath) => join(manifest.name, subpath));

/** Imports subpaths, prints those without any export, and then the outcome of a shipped delivery. */
const programOf = (specifiers: readonly string[]) => `
${specifiers.map((specifier, i) => `import * as at${i} from '${specifier}';`).join('\n')}
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { replay } from 'storefront-webhooks/testing';
const all = { ${specifiers.map((specifier, i) => `'${specifier}': at${i}`).join(', ')} };
console.log(Object.keys(all).filter((name) => Object.keys(all[name]).length === 0));
const receiver = createReceiver({ secret: 'any' }).onPaid(async () => {});
replay(toNodeHandler(receiver), 'order:paid', { secret: 'any' }).then(({ outcome }) => console.log(outcome));
`;

/** The packages that the bundles leave out, because the user installs them. */
const external = Object.keys(manifest.peerDependencies);

test.each([
  ['esm', 'mjs'],
  ['cjs', 'cjs'],
] as const)(
  'every subpath is bundled into one file of %s, which handles a delivery',
  async (format, end) => {
    const outfile = join(folder, `bundled.${end}`);
    await esbuild.build({
      stdin: { contents: programOf(ALL), resolveDir: folder },
      ...{ outfile, format, external, bundle: true, platform: 'node', logLevel: 'error' },
      logOverride: { 'empty-import-meta': 'silent' },
      // The `paths` of tsconfig.json point to the sources.
      tsconfigRaw: {},
    });
    expect(await run(folder, process.execPath, outfile)).toBe('[]\nhandled\n');
  },
);

test('a bundle away from the package names what to do about the shipped fixtures', async () => {
  const outfile = join(makeFolder(), 'bundled.mjs');
  const contents = `import { replay } from 'storefront-webhooks/testing';
    replay({}, 'order:paid').catch(({ code, message }) => console.log(code, message));`;
  await esbuild.build({
    stdin: { contents, resolveDir: folder },
    ...{ outfile, format: 'esm', external, bundle: true, platform: 'node', logLevel: 'error' },
    tsconfigRaw: {},
  });
  expect(await run(folder, process.execPath, outfile)).toContain(
    'fixture_invalid The shipped fixtures cannot be found, because storefront-webhooks is not installed where this code runs. Install the package there and, if a bundler made this code, list it as external.',
  );
});

/** The globals of Node that jsdom has not. */
const NOT_IN_JSDOM = [
  ...['TextEncoder', 'TextDecoder', 'fetch', 'Request', 'Response', 'Headers', 'ReadableStream'],
  ...['structuredClone', 'setImmediate', 'clearImmediate', 'BroadcastChannel', 'MessageChannel'],
];

test('every subpath loads without the globals that jsdom has not, and handles a delivery', async () => {
  const file = join(folder, 'bare.mjs');
  const removed = NOT_IN_JSDOM.map((name) => `delete globalThis.${name};`).join('\n');
  writeFileSync(join(folder, 'removed.mjs'), removed);
  writeFileSync(file, `import './removed.mjs';\n${programOf(ALL)}`);
  expect(await run(folder, process.execPath, file)).toBe('[]\nhandled\n');
});
