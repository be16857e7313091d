import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The layers, in the order in which a delivery passes them. Each layer imports only from itself and from the
 * layers above it.
 */
const LAYERS = {
  errors: 'errors, and the links to their explanations',
  runtime: 'differences between runtimes: bytes, timers, addresses',
  schemas: 'events, orders and products',
  request: 'a request becomes a verified delivery, or a rejection',
  stores: 'the state of deliveries',
  report: 'reports the outcome of a delivery to hooks, stderr and telemetry',
  process: 'a delivery is claimed, its handlers run, it is settled',
  queues: 'carries a delivery to a worker',
  goods: 'answers the call that asks for the goods of an order',
  api: "the provider's client",
  '.': 'the receiver, and the exports of the package',
  // Tools come last: nothing above imports them.
  recovery: "finds missed deliveries in the provider's log",
  testing: 'fixtures, replay, and the tests of a store or a queue of your own',
  sandbox: "the provider's service, in a process of its own",
  cli: 'the command',
};

const IMPORT = /^(?:import|export) (?:[^;]*? from )?'([^']+)';/gm;

function importsOf(file: string): string[] {
  // Skip imports in examples.
  const code = readFileSync(file, 'utf8').replace(/^ +\*.*$/gm, '');
  return Array.from(code.matchAll(IMPORT), ([, from = '']) => from);
}

function filesIn(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
}

const core = filesIn('src');
const relativeImports = new Map(
  [...core, ...filesIn('adapters')].map((file) => {
    const relative = importsOf(file).filter((from) => from.startsWith('.'));
    return [file, relative.map((from) => normalize(join(file, '..', from)).replace(/js$/, 'ts'))];
  }),
);

const layerOf = (file: string) => /^src\/(?:(\w+)\/)?/.exec(file)?.[1] ?? '.';

const importsAcross = core.flatMap((file) =>
  (relativeImports.get(file) ?? [])
    .filter((imported) => layerOf(imported) !== layerOf(file))
    .map((imported) => ({ file, imported })),
);

test.each(Object.keys(LAYERS))('%s imports only from the layers above it', (layer) => {
  const above = Object.keys(LAYERS).slice(0, Object.keys(LAYERS).indexOf(layer));
  const others = importsAcross.filter(({ file }) => layerOf(file) === layer);
  expect(others.filter(({ imported }) => !above.includes(layerOf(imported)))).toEqual([]);
});

test('each folder is a layer', () => {
  expect([...new Set(core.map(layerOf))].sort()).toEqual(Object.keys(LAYERS).sort());
});

test('there are no circular imports', () => {
  const reached = (file: string, seen = new Set<string>()): Set<string> => {
    for (const imported of relativeImports.get(file) ?? []) {
      if (seen.has(imported)) continue;
      seen.add(imported);
      reached(imported, seen);
    }
    return seen;
  };
  expect([...relativeImports.keys()].filter((file) => reached(file).has(file))).toEqual([]);
});

test('the core runs everywhere: only testing, the sandbox, the command and files for Bun and Deno import Node modules', () => {
  const imported = core
    .filter((file) => !/^src\/(testing|sandbox|cli)\//.test(file))
    // Bun and Deno alone load it.
    .filter((file) => !file.endsWith('.imported.ts'))
    .flatMap((file) => importsOf(file))
    .filter((from) => !from.startsWith('.'));
  expect([...new Set(imported)].sort()).toEqual([
    '@noble/hashes/hmac.js',
    '@noble/hashes/sha2.js',
    // Import only by subpath.
    '@opentelemetry/api',
    'zod/mini',
    'zod/v4/core',
  ]);
});

test.each([...core, ...filesIn('adapters')])('%s has at most 300 lines', (file) => {
  expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThanOrEqual(300);
});
