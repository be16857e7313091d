import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { subpaths } from './entries.js';
import { build, makeFolder, ROOT, run, USERS, writeJson } from './folder.js';

/** Builds and packs the package as it is published, and returns the path of the tarball. */
export async function pack(): Promise<string> {
  const folder = await build({ types: true });
  // The scripts would build it again.
  const printed = await run(folder, 'npm', 'pack', '--ignore-scripts', '--json');
  const [packed]: { filename: string }[] = JSON.parse(printed);
  if (!packed) throw new Error(`npm pack has packed nothing: ${printed}`);
  return join(folder, packed.filename);
}

/** Packs the build of this run, which has no types, and returns the path of the tarball. */
export async function packBuilt(): Promise<string> {
  const built = join(inject('built'), 'node_modules/storefront-webhooks');
  const folder = makeFolder();
  const to = ['--pack-destination', folder];
  const printed = await run(built, 'npm', 'pack', '--ignore-scripts', '--json', ...to);
  const [packed]: { filename: string }[] = JSON.parse(printed);
  if (!packed) throw new Error(`npm pack has packed nothing: ${printed}`);
  return join(folder, packed.filename);
}

/** A user's project with the tarball, and with `others` in the versions of this repository. */
export async function makeProject(tarball: string, others: readonly string[] = []) {
  const folder = makeFolder();
  writeJson(folder, 'package.json', { private: true });
  cpSync(USERS, folder, { recursive: true });
  const imports = Object.entries(subpaths).map(
    ([subpath, name]) =>
      `export type * as ${name.replace('-', '_')} from '${toSpecifier(subpath)}';`,
  );
  writeFileSync(join(folder, 'subpaths.ts'), imports.join('\n'));
  for (const type of ['mts', 'cts']) {
    for (const file of ['mounts', 'subpaths']) {
      cpSync(join(folder, `${file}.ts`), join(folder, `${file}.${type}`));
    }
  }
  const quick = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  const impatient = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=30000'];
  const versions = others.map((name) => `${name}@${installedVersion(name)}`);
  await run(folder, 'npm', 'install', ...quick, ...impatient, tarball, ...versions);
  return folder;
}

/** Returns the import path of a subpath. */
export function toSpecifier(subpath: string): string {
  return subpath.replace('.', 'storefront-webhooks');
}

/** The version in this repository, so that a new release does not affect the test. */
function installedVersion(name: string): string {
  const file = join(ROOT, 'node_modules', name, 'package.json');
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

const NETWORK_ERROR =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONN[A-Z]+|E(?:NET|HOST)UNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b/;

/** Returns whether npm failed because it could not reach its registry. */
export function isUnreachable(error: unknown): boolean {
  return NETWORK_ERROR.test(String(error));
}

/**
 * Compiles files of a project, and returns the errors. Also checks the package's types.
 *
 * @param compiler - TypeScript 7 takes an eighth of the time.
 */
export async function compile(
  project: string,
  files: readonly string[],
  [module, moduleResolution]: readonly [string, string],
  options: Readonly<Record<string, boolean>> = {},
  compiler: 'typescript' | 'typescript-7' = 'typescript',
): Promise<string> {
  const fixed = { target: 'es2022', strict: true, types: ['node'] };
  writeJson(project, 'tsconfig.json', {
    // With declarations, every type that a user's type may contain has to have a name.
    compilerOptions: {
      ...fixed,
      ...{ module, moduleResolution, skipLibCheck: false },
      ...{ declaration: true, outDir: 'out' },
      ...options,
    },
    files,
  });
  const tsc = join(ROOT, 'node_modules', compiler, 'bin', 'tsc');
  return run(project, process.execPath, tsc, '--pretty', 'false').catch(String);
}
