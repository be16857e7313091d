import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applications } from '../../../adapters/applications.js';
import { adapterContract } from '../../../adapters/contract.js';
import { removeFolders, run } from '../../../package/folder.js';
import { install } from '../../../package/older.js';
import { OLDEST, oldest, specsOf, UNUSABLE } from '../../../package/oldest.js';
import { packBuilt } from '../../../package/packed.js';
import { compileApps, startApp } from '../../../runtimes/apps.js';

const FRAMEWORKS = ['express', 'fastify', 'hono', 'koa'] as const;
const known = new Map(await applications());

describe('the oldest version of a framework', () => {
  let folder: string;
  beforeAll(async () => {
    const others = ['koa-bodyparser@4.4.1', '@hono/node-server@1.4.1'];
    folder = await install([await packBuilt(), ...specsOf(oldest(...FRAMEWORKS)), ...others]);
    await compileApps(folder, [...FRAMEWORKS.map((name) => `${name}.ts`), 'inside/main.ts']);
  }, 300_000);
  afterAll(removeFolders);

  for (const name of FRAMEWORKS) {
    const { parsed } = known.get(name) ?? {};
    const open = () => startApp([process.execPath], name, folder);
    adapterContract(`${name} ${OLDEST[name]}`, open, { ...(parsed && { parsed }) });
  }
});

describe('an older version is rejected by its name and version', () => {
  let folder: string;
  beforeAll(async () => {
    const { fastify, hono, '@opentelemetry/api': api } = UNUSABLE;
    folder = await install([
      await packBuilt(),
      ...specsOf({ fastify, hono, '@opentelemetry/api': api }),
    ]);
  }, 300_000);
  afterAll(removeFolders);

  const cases = {
    fastify: {
      program: `
import Fastify from 'fastify';
import { toFastify } from 'storefront-webhooks/fastify';
await Fastify().register(toFastify(receiver)).ready();`,
      expected: `toFastify() needs Fastify 4 or later, and this is Fastify ${UNUSABLE.fastify}`,
    },
    hono: {
      program: `
import { Hono } from 'hono';
import { toHono } from 'storefront-webhooks/hono';
const app = new Hono();
app.onError((error) => { throw error; });
app.post('/', toHono(receiver));
await app.request('http://localhost/', { method: 'POST' });`,
      expected: 'toHono() needs Hono 3 or later, and this is Hono 2 or earlier',
    },
    '@opentelemetry/api': {
      program: `
import { openTelemetry } from 'storefront-webhooks/opentelemetry';
openTelemetry();`,
      expected: 'openTelemetry() needs @opentelemetry/api 1.3 or later, and this is an earlier',
    },
  };

  test.each(Object.entries(cases))('%s', async (name, { program, expected }) => {
    const file = `${name.replace(/\W/g, '')}.mjs`;
    const receiver = `
import { createReceiver } from 'storefront-webhooks';
const receiver = createReceiver({ secret: 'a secret for tests' });`;
    const report = `
process.exit(0);`;
    writeFileSync(join(folder, file), `${receiver}${program}${report}`);
    await expect(run(folder, process.execPath, file)).rejects.toThrow(expected);
    await expect(run(folder, process.execPath, file)).rejects.toThrow('version_unsupported');
  });
});
