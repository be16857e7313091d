import { createRequire } from 'node:module';
import { join } from 'node:path';
import { makeFolder, run, writeJson } from './folder.js';

const QUICK = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];

/** Installs packages in a new folder with npm, which fails if their versions do not fit together. */
export async function install(packages: readonly string[]): Promise<string> {
  const folder = makeFolder();
  writeJson(folder, 'package.json', { private: true, type: 'module' });
  await run(folder, 'npm', 'install', ...QUICK, ...packages);
  return folder;
}

/** Installs older versions of packages in a new folder, and returns the function that loads them. */
export async function requireOlder(packages: readonly string[]) {
  return createRequire(join(await install(packages), 'package.json'));
}
