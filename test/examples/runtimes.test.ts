import { cp, readFile } from 'node:fs/promises';
import { afterAll, beforeAll } from 'vitest';
import { installed, withRuntimes } from '../runtimes/installed.js';
import { makeProject, type Project } from '../runtimes/project.js';
import { startWorker } from '../runtimes/workerd.js';
import { start } from '../support/start.js';
import { exampleShop, WEBHOOK_SECRET } from './shop.js';

const env = { WEBHOOK_SECRET };

withRuntimes('the examples in Bun, Deno and workerd', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('examples');
    for (const example of ['bun.ts', 'deno.ts', 'workers'])
      await cp(`examples/${example}`, `${project.folder}/${example}`, { recursive: true });
  }, 120_000);
  afterAll(() => project?.remove());

  exampleShop('bun', () => start(installed('.bin/bun'), ['bun.ts'], { cwd: project.folder, env }));

  exampleShop('deno', () => {
    const args = ['run', '--allow-net', '--allow-env', 'deno.ts'];
    return start(installed('.bin/deno'), args, { cwd: project.folder, env });
  });

  exampleShop('workers', async () => {
    const folder = `${project.folder}/workers`;
    const settings = await readFile(`${folder}/wrangler.jsonc`, 'utf8');
    return startWorker(folder, {
      entry: `${folder}/index.ts`,
      compatibilityDate: /"compatibility_date": "([^"]+)"/.exec(settings)?.[1] ?? '',
      secrets: env,
    });
  });
});
