import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The rooms of the house, in the order in which a delivery needs them: each imports only from itself and from
 * those above it.
 */
const ROOMS = {
  errors: 'says what went wrong, and where to read on',
  runtime: 'what runtimes do differently: bytes, timers, addresses',
  schemas: 'what an event, an order, a product is',
  request: 'a request becomes a verified delivery, or a rejection',
  stores: 'what is remembered of a delivery',
  report: 'tells hooks, stderr and telemetry what became of a delivery',
  process: 'a delivery is claimed, its handlers run, it is settled',
  queues: 'carries a delivery to a worker',
  goods: 'answers the call that asks for the goods of an order',
  api: "the provider's client",
  '.': 'the receiver, and what the package exports',
  // The tools are guests: nothing above knows of them.
  recovery: 'finds what was missed in the log of the provider',
  testing: 'fixtures, replay, and the tests of a store or a queue of your own',
  sandbox: "the provider's service, in a process of its own",
  cli: 'the command',
};

const IMPORT = /^(?:import|export) (?:[^;]*? from )?'([^']+)';/gm;

function importsOf(file: string): string[] {
  // Not those of an example.
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

const roomOf = (file: string) => /^src\/(?:(\w+)\/)?/.exec(file)?.[1] ?? '.';

const importsAcross = core.flatMap((file) =>
  (relativeImports.get(file) ?? [])
    .filter((imported) => roomOf(imported) !== roomOf(file))
    .map((imported) => ({ file, imported })),
);

test.each(Object.keys(ROOMS))('%s imports only from the rooms above it', (room) => {
  const above = Object.keys(ROOMS).slice(0, Object.keys(ROOMS).indexOf(room));
  const others = importsAcross.filter(({ file }) => roomOf(file) === room);
  expect(others.filter(({ imported }) => !above.includes(roomOf(imported)))).toEqual([]);
});

test('each folder is a room', () => {
  expect([...new Set(core.map(roomOf))].sort()).toEqual(Object.keys(ROOMS).sort());
});

test('no file imports one that imports it, by whatever way', () => {
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

test('the core runs everywhere: outside testing, the sandbox and the command, nothing of Node is imported', () => {
  const imported = core
    .filter((file) => !/^src\/(testing|sandbox|cli)\//.test(file))
    .flatMap((file) => importsOf(file))
    .filter((from) => !from.startsWith('.'));
  expect([...new Set(imported)].sort()).toEqual([
    '@noble/hashes/hmac.js',
    '@noble/hashes/sha2.js',
    // By its subpath only.
    '@opentelemetry/api',
    'zod/mini',
    'zod/v4/core',
  ]);
});

test.each([...core, ...filesIn('adapters')])('%s has at most 300 lines', (file) => {
  expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThanOrEqual(300);
});
