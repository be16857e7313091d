import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Mounted } from '../adapters/contract.js';
import { start } from '../support/start.js';

const SOURCES = resolve(import.meta.dirname, '../adapters/apps');

/** Compiles the applications of the adapter contract into a project, as a developer would. */
export async function compileApps(
  folder: string,
  files = ['*.ts', 'inside/main.ts'],
): Promise<void> {
  const apps = join(folder, 'apps');
  await cp(SOURCES, apps, { recursive: true });
  await build({
    entryPoints: files.map((file) => join(apps, file)),
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    format: 'esm',
    target: 'es2022',
    platform: 'node',
    splitting: true,
    tsconfigRaw: {},
  });
}

/** Serves one of them with a runtime. */
export function startApp(
  [runtime, ...options]: readonly [runtime: string, ...options: string[]],
  app: string,
  folder: string,
): Promise<Mounted> {
  return start(runtime, [...options, 'main.mjs', `./${app}.mjs`], { cwd: folder });
}
