import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryPoints } from '../../tsup.config.js';
import { ROOT } from './folder.js';

/** The files of each subpath in `dist`, by its name in `exports`, such as `./express`. */
export const subpaths: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(entryPoints)
    .map((name) => [name === 'index' ? '.' : `./${name}`, name])
    .sort(),
);

const FILE = join(ROOT, 'package.json');

/** Returns package.json as it is, and as it has to be: with each entry point exported and each peer optional. */
export function readManifest(): { readonly text: string; readonly expected: string } {
  const text = readFileSync(FILE, 'utf8');
  const manifest = JSON.parse(text);
  const exported = Object.entries(subpaths).map(([subpath, name]) => [
    subpath,
    {
      import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
      require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
    },
  ]);
  // TypeScript with the Node 10 resolution, the default of `module: commonjs` until 5.9, does not read `exports`.
  const typed = Object.values(subpaths).filter((name) => name !== 'index');
  const typesVersions = Object.fromEntries(typed.map((name) => [name, [`./dist/${name}.d.cts`]]));
  const peers = Object.keys(manifest.peerDependencies);
  const expected = {
    ...manifest,
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
    typesVersions: { '*': typesVersions },
    peerDependenciesMeta: Object.fromEntries(peers.map((peer) => [peer, { optional: true }])),
  };
  return { text, expected: `${JSON.stringify(expected, null, 2)}\n` };
}

// When run as a script.
if (process.argv[1] === import.meta.filename) writeFileSync(FILE, readManifest().expected);
