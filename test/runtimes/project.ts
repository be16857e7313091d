import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../..');
// In the repository, so that its node_modules, and Next's, are found in the folders above.
const PROJECTS = join(import.meta.dirname, '.projects');

/** A folder like that of somebody who has installed the package. */
export interface Project {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Makes an empty project that has this package in its node_modules, built, but without types. */
export async function makeProject(name: string): Promise<Project> {
  const project = await makeFolder(name);
  try {
    const installed = join(project.folder, 'node_modules/storefront-webhooks');
    await mkdir(join(installed, 'dist'), { recursive: true });
    for (const part of ['package.json', 'fixtures']) {
      await cp(join(ROOT, part), join(installed, part), { recursive: true });
    }
    // Bun and Next would apply the repository's own, whose paths lead to the sources.
    await writeFile(join(project.folder, 'tsconfig.json'), '{}\n');
    built ??= build();
    for (const [file, bytes] of await built) await writeFile(join(installed, 'dist', file), bytes);
  } catch (error) {
    await project.remove();
    throw error;
  }
  return project;
}

let built: Promise<Map<string, Buffer>> | undefined;

/** Builds the package away from the repository's own dist/, once per process. */
async function build(): Promise<Map<string, Buffer>> {
  const { folder, remove } = await makeFolder('dist');
  try {
    const tsup = join(ROOT, 'node_modules/tsup/dist/cli-default.js');
    const args = [tsup, '--silent', '--no-dts', '--out-dir', folder];
    await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    const read = async (file: string) => [file, await readFile(join(folder, file))] as const;
    return new Map(await Promise.all((await readdir(folder)).map(read)));
  } finally {
    await remove();
  }
}

async function makeFolder(name: string): Promise<Project> {
  await mkdir(PROJECTS, { recursive: true });
  const folder = await mkdtemp(join(PROJECTS, `${name}-`));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}
