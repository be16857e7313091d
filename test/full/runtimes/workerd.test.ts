import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { SECRET } from '../../adapters/apps/inside/contract.js';
import { adapterContract } from '../../adapters/contract.js';
import { withRuntimes } from '../../runtimes/installed.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import { startWorker } from '../../runtimes/workerd.js';

/** Node's crypto is available by default since 2026-08-04. */
const DATES = [
  ['2026-10-23', /on Cloudflare-Workers with Node's crypto/],
  ['2022-01-01', /on a runtime without a name without Node's crypto/],
] as const;

withRuntimes('the adapter in workerd', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('workerd');
    await cp('test/adapters/apps', join(project.folder, 'apps'), { recursive: true });
  }, 120_000);
  afterAll(() => project?.remove());

  for (const [compatibilityDate, runtime] of DATES) {
    const open = () =>
      startWorker(project.folder, {
        entry: join(project.folder, 'apps/inside/worker.ts'),
        compatibilityDate,
        secrets: { SECRET },
      });
    adapterContract(`toWorker as of ${compatibilityDate}`, open, { runtime });
  }
});
