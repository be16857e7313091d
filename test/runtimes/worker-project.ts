import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { SECRET } from '../adapters/apps/inside/contract.js';
import { makeProject, type Project } from './project.js';
import { startWorker } from './workerd.js';

/** Makes a project with the test apps for the tests of a file. Returns a function that starts an app of it in workerd. */
export function useWorkerProject(): (
  app: string,
  compatibilityDate: string,
) => ReturnType<typeof startWorker> {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('workerd');
    await cp('test/adapters/apps', join(project.folder, 'apps'), { recursive: true });
  }, 120_000);
  afterAll(() => project?.remove());
  return (app, compatibilityDate) => {
    const entry = join(project.folder, 'apps/inside', app);
    return startWorker(project.folder, { entry, compatibilityDate, secrets: { SECRET } });
  };
}
