import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { inject } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
// In the repository, so that the node_modules folders above are found, including Next's.
const PROJECTS = join(import.meta.dirname, '.projects');

/** A folder like a user's, with the package installed. */
export interface Project {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Creates an empty project with the built package in its node_modules, without types. */
export async function makeProject(name: string): Promise<Project> {
  const project = await makeFolder(name);
  try {
    const installed = join(project.folder, 'node_modules/storefront-webhooks');
    await mkdir(join(installed, 'dist'), { recursive: true });
    for (const part of ['package.json', 'fixtures']) {
      await cp(join(ROOT, part), join(installed, part), { recursive: true });
    }
    // Bun and Next would use the repository's own tsconfig.json, whose paths point to the sources.
    await writeFile(join(project.folder, 'tsconfig.json'), '{}\n');
    await cp(join(builtPackage(), 'dist'), join(installed, 'dist'), { recursive: true });
  } catch (error) {
    await project.remove();
    throw error;
  }
  return project;
}

/** The package that the run has built. */
const builtPackage = () => join(inject('built'), 'node_modules/storefront-webhooks');

async function makeFolder(name: string): Promise<Project> {
  await mkdir(PROJECTS, { recursive: true });
  const folder = await mkdtemp(join(PROJECTS, `${name}-`));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}
