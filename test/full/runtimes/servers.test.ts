import { afterAll, beforeAll } from 'vitest';
import { applications } from '../../adapters/applications.js';
import { adapterContract } from '../../adapters/contract.js';
import { compileApps, startApp } from '../../runtimes/apps.js';
import { installed, withRuntimes } from '../../runtimes/installed.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import { casesOf } from '../../support/tier.js';

// Lambda has its own runtime.
const SERVERS = (await applications()).filter(([, { buffers }]) => !buffers);

const RUNTIMES = [
  ['Node 20', [installed('node20/bin/node')], /on Node\.js\/20/],
  ['Node 22', [installed('node22/bin/node')], /on Node\.js\/22/],
  ['Node 24', [installed('node24/bin/node')], /on Node\.js\/24/],
  ['Node 26', [installed('node26/bin/node')], /on Node\.js\/26/],
  ['Bun', [installed('.bin/bun')], /on Bun/],
  ['Deno', [installed('.bin/deno'), 'run', '--allow-all'], /on Deno/],
] as const;

withRuntimes('the adapters in Node 20 to 26, Bun and Deno', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('servers');
    await compileApps(project.folder);
  }, 120_000);
  afterAll(() => project?.remove());

  for (const [name, command, runtime] of casesOf(RUNTIMES, ([name]) => !/Node 2[246]/.test(name))) {
    for (const [app, { parsed }] of SERVERS) {
      const open = () => startApp(command, app, project.folder);
      adapterContract(`${app} on ${name}`, open, { runtime, parsed });
    }
  }
});
