import { afterAll, beforeAll } from 'vitest';
import { adapterContract } from '../adapters/contract.js';
import { compileApps, startApp } from './apps.js';
import { installed, withRuntimes } from './installed.js';
import { makeProject, type Project } from './project.js';

const SERVERS = ['node', 'express', 'express4', 'fastify', 'koa', 'koa2', 'hono', 'nitro'];

const RUNTIMES = [
  ['Node 20', [installed('node20/bin/node')], 'fetch', /on Node\.js\/20/],
  ['Node 22', [installed('node22/bin/node')], 'fetch', /on Node\.js\/22/],
  ['Node 24', [installed('node24/bin/node')], 'fetch', /on Node\.js\/24/],
  ['Node 26', [installed('node26/bin/node')], 'fetch', /on Node\.js\/26/],
  ['Bun', [installed('.bin/bun')], 'bun', /on Bun/],
  ['Deno', [installed('.bin/deno'), 'run', '--allow-all'], 'deno', /on Deno/],
] as const;

withRuntimes('the adapters in Node 20 to 26, Bun and Deno', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('servers');
    await compileApps(project.folder);
  }, 120_000);
  afterAll(() => project?.remove());

  for (const [name, command, fetch, runtime] of RUNTIMES) {
    for (const app of [fetch, ...SERVERS]) {
      const open = () => startApp(command, app, project.folder);
      adapterContract(`${app} on ${name}`, open, { runtime });
    }
  }
});
