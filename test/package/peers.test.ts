import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundled } from '../../tsup.config.js';

const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);

const IMPORT =
  /^(?:import|export) (?:[^;]*? from )?'([^'.]+)';|(?:\bimport|createRequire\(.*\))\('([^'.]+)'\)/gm;

/** The packages that the code of a folder imports, or requires at run time. */
function packagesOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      // Skip imports in examples.
      const code = readFileSync(join(folder, file), 'utf8').replace(/^ +\*.*$/gm, '');
      return Array.from(code.matchAll(IMPORT), ([, imported, required]) => imported ?? required);
    })
    .map((specifier = '') => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '')
    .filter((name) => !name.startsWith('node:') && !(name in dependencies));
}

// The command finds drivers in the seller's project. The package contains the bundled ones.
const folders = readdirSync('src').filter((name) => !name.endsWith('.ts') && name !== 'cli');
const inSources = folders.flatMap((folder) => packagesOf(join('src', folder)));
const unbundled = inSources.filter((name) => !bundled.includes(name));
// Hono is bundled into the sandbox, and is the user's own in its adapter.
const inAdapters = packagesOf('adapters').filter((name) => name !== 'raw-body');
const peers = [...new Set([...inAdapters, ...unbundled])].sort();

test('the peers are the packages that the code or its types import', () => {
  expect(peers).toEqual(['@opentelemetry/api', 'fastify', 'hono', 'koa', 'libsql']);
  expect(Object.keys(peerDependencies)).toEqual(peers);
});

test('each peer is optional, and may have any version', () => {
  for (const peer of peers) {
    expect([peer, peerDependencies[peer], peerDependenciesMeta[peer]]).toEqual([
      peer,
      // Another range would end `npm install` in ERESOLVE beside a version that the seller uses without this package.
      '*',
      { optional: true },
    ]);
  }
});
