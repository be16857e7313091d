import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { entryPoints, REPLACEMENTS, replaced } from '../../tsup.config.js';
import { ROOT } from './folder.js';

/** The files of each subpath in `dist`, by its name in `exports`, such as `./express`. */
export const subpaths: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(entryPoints)
    .map((name) => [name === 'index' ? '.' : `./${name}`, name])
    .sort(),
);

/** Returns the files in `dist` by the conditions that choose them. */
function filesOf(file: string, replacements: readonly string[]) {
  const at = (path: string) => ({
    import: `./dist/${basename(path)}.js`,
    require: `./dist/${basename(path)}.cjs`,
  });
  const chosen = Object.entries(REPLACEMENTS).flatMap(([suffix, conditions]) => {
    const path = replacements.find((one) => one.endsWith(suffix));
    return path === undefined ? [] : conditions.map((condition) => [condition, at(path)] as const);
  });
  // Bun and Deno have the condition of Node as well, and the first that holds counts.
  const { default: other = at(file), ...known } = Object.fromEntries(chosen);
  return { ...known, node: at(file), default: other };
}

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
    imports: Object.fromEntries(
      Array.from(replaced, ([file, others]) => [`#${basename(file)}`, filesOf(file, others)]),
    ),
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
    typesVersions: { '*': typesVersions },
    peerDependenciesMeta: Object.fromEntries(peers.map((peer) => [peer, { optional: true }])),
  };
  return { text, expected: `${JSON.stringify(expected, null, 2)}\n` };
}

// When run as a script.
if (process.argv[1] === import.meta.filename) writeFileSync(FILE, readManifest().expected);
