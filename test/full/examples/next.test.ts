import { cp } from 'node:fs/promises';
import { afterAll, beforeAll } from 'vitest';
import { exampleShop, WEBHOOK_SECRET } from '../../examples/shop.js';
import { withRuntimes } from '../../runtimes/installed.js';
import { buildAndStartNext } from '../../runtimes/next.js';
import { makeProject, type Project } from '../../runtimes/project.js';

withRuntimes('the example in Next.js', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('next');
    await cp('examples/next', project.folder, { recursive: true });
  }, 120_000);
  afterAll(() => project?.remove());

  exampleShop('next', () => buildAndStartNext(project.folder, { WEBHOOK_SECRET }), {
    paths: ['/webhooks', '/edge-webhooks', '/api/webhooks'],
  });
});
