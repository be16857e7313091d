import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installed, withRuntimes } from '../../runtimes/installed.js';
import { makeProject, type Project } from '../../runtimes/project.js';

const RUNTIMES = [
  ['Node 20', [installed('node20/bin/node')]],
  ['Node 22', [installed('node22/bin/node')]],
  ['Bun', [installed('.bin/bun')]],
  ['Deno', [installed('.bin/deno'), 'run', '--allow-all']],
] as const;

const SIGNED = `
const body = '{"id":"ord_1"}';
const headers = { 'x-service-signature': sign(body, 'a secret') };
const genuine = verifySignature(body, headers['x-service-signature'], 'a secret');
const forged = verifySignature(body + ' ', headers['x-service-signature'], 'a secret');
console.log(JSON.stringify([genuine, forged, typeof createReceiver]));
`;

const MODULES = {
  'signed.mjs': `
import { createReceiver, verifySignature } from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
${SIGNED}`,
  'signed.cjs': `
const { createReceiver, verifySignature } = require('storefront-webhooks');
const { sign } = require('storefront-webhooks/testing');
${SIGNED}`,
};

withRuntimes('the hashing of the built package', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('hashes');
    for (const [file, code] of Object.entries(MODULES)) {
      await writeFile(join(project.folder, file), code);
    }
    // Nearer than the real package: whatever loads it fails.
    const portable = join(project.folder, 'node_modules/@noble/hashes');
    await mkdir(portable, { recursive: true });
    const manifest = { name: '@noble/hashes', version: '1.8.0', exports: { './*': './loaded.js' } };
    await writeFile(join(portable, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(portable, 'loaded.js'), "throw new Error('@noble/hashes is loaded');");
  }, 120_000);
  afterAll(() => project?.remove());

  describe.each(RUNTIMES)('on %s', (_, [runtime = '', ...options]) => {
    test.each(Object.keys(MODULES))('is the native one, in %s', async (file) => {
      const { stdout } = await promisify(execFile)(runtime, [...options, file], {
        cwd: project.folder,
      });
      expect(JSON.parse(stdout)).toEqual([true, false, 'function']);
    });
  });
});
