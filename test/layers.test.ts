import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The files of the core in the order in which a delivery needs them: each imports only from those above
 * it. A folder stands for all of its files.
 */
const ORDER = [
  'schemas/standard-schema',
  'explained',
  'errors',
  'report/version',
  'report/harmless',
  'report/text',
  'report/log',
  'timing',
  'address',
  'process/draining',
  'request/bytes',
  'schemas/',
  'outcome',
  'request/sha2',
  'request/signature',
  'request/request',
  'request/promised',
  'request/canonical-json',
  'request/key',
  'request/receipt',
  'request/unwrap',
  'process/own-payload',
  'request/proof',
  'request/delivery',
  'request/secret-source',
  'request/proving',
  'stores/',
  'process/confirm',
  'process/hand-off',
  'report/limited',
  'report/lines',
  'report/telemetry',
  'report/hooks',
  'options',
  'option-checks',
  'common-settings',
  'settings',
  'request/verify',
  'process/confirming',
  'process/lease',
  'process/purging',
  'process/idempotency',
  'process/in-flight',
  'process/handler',
  'process/handler-event',
  'process/router',
  'process/choosing',
  'process/effect',
  'process/mark-done',
  'process/newest',
  'process/run-handlers',
  'process/processing',
  'process/unsealing',
  'process/closing',
  'process/inside',
  'receiver',
  'goods/',
  'receiver-source',
  'queues/',
  'cloudflare',
  'report/opentelemetry/',
  'index',
  'api/',
  'recovery/',
  'testing/',
  'sandbox/random',
  'sandbox/clock',
  'sandbox/fault',
  'sandbox/faults',
  'sandbox/unknowns',
  'sandbox/state/',
  'sandbox/trade/',
  'sandbox/markets',
  'sandbox/service/',
  'sandbox/webhooks/',
  'sandbox/seed/',
  'sandbox/shop/',
  'sandbox/control/',
  'sandbox/options',
  'sandbox/listen',
  'sandbox/sandbox',
  'sandbox/index',
  'cli/',
];

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

function layerOf(file: string) {
  const name = file.replace(/^src\//, '').replace(/\.[jt]s$/, '');
  return ORDER.findIndex(
    (entry) => entry === name || (entry.endsWith('/') && name.startsWith(entry)),
  );
}

const core = filesIn('src');

test.each(core)('%s imports only from the layers above it', (file) => {
  expect(layerOf(file), 'add the file to ORDER').not.toBe(-1);
  const relative = importsOf(file).filter((from) => from.startsWith('.'));
  for (const from of relative) {
    const imported = normalize(join(file, '..', from));
    expect(layerOf(imported), `${file} imports ${imported}, which is outside`).not.toBe(-1);
    const isInSameFolder =
      ORDER[layerOf(file)]?.endsWith('/') && layerOf(imported) === layerOf(file);
    expect(isInSameFolder || layerOf(imported) < layerOf(file), `${file} imports ${imported}`).toBe(
      true,
    );
  }
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
