import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A folder with the built package in its `node_modules`, created once per run. */
    readonly built: string;
  }
}

const ROOT = resolve(import.meta.dirname, '../..');
// In the repository, so that the package's dependencies are found in the folders above.
const PROJECTS = join(ROOT, 'test/.projects');

/** Builds the package once, before the first test: from dist/ if DIST is set, otherwise without types. */
export default async function setup({ provide }: TestProject) {
  await mkdir(PROJECTS, { recursive: true });
  const built = await mkdtemp(join(PROJECTS, 'built-'));
  const installed = join(built, 'node_modules/storefront-webhooks');
  const dist = join(installed, 'dist');
  if (process.env.DIST) {
    await cp(join(ROOT, process.env.DIST), dist, { recursive: true });
  } else {
    const tsup = join(ROOT, 'node_modules/tsup/dist/cli-default.js');
    const args = [tsup, '--silent', '--no-dts', '--out-dir', dist];
    await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  }
  for (const part of ['package.json', 'fixtures', 'docs']) {
    await cp(join(ROOT, part), join(installed, part), { recursive: true });
  }
  // A separate package, so that its files import the built package instead of themselves.
  await writeFile(join(built, 'package.json'), '{ "name": "built", "type": "module" }\n');
  provide('built', built);
  return () => rm(built, { recursive: true, force: true, maxRetries: 5 });
}
