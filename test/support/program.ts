import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { inject } from 'vitest';
import { start } from './start.js';

const ROOT = resolve(import.meta.dirname, '../..');

const compiled = new Map<string, Promise<string>>();

/**
 * Compiles a program for a separate process, once, and returns the path of its JavaScript.
 *
 * @param file - The path from the root of the repository, such as `examples/express.ts`.
 * @param uses - Whether it imports the built package, as a seller's program does, or includes the sources.
 */
export function compileProgram(file: string, uses: 'build' | 'sources'): Promise<string> {
  const path = compiled.get(file) ?? compile(file, uses);
  compiled.set(file, path);
  return path;
}

async function compile(file: string, uses: 'build' | 'sources'): Promise<string> {
  const name = file.replaceAll('/', '-').replace(/\.ts$/, '');
  const outfile = join(inject('built'), `${process.pid}`, `${name}.mjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    // This package declares no side effects, but its tests have some.
    ignoreAnnotations: true,
    // The paths of tsconfig.json point to the sources.
    ...(uses === 'build'
      ? { tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } }
      : { tsconfig: 'tsconfig.json' }),
  });
  return outfile;
}

/** The built command, as a file for `node`. */
export const builtCommand = () =>
  join(inject('built'), 'node_modules/storefront-webhooks/dist/cli.js');

/** Starts an example, and waits until it has printed its address. */
export async function startExample(
  file: string,
  options: Parameters<typeof start>[2] = {},
  node = process.execPath,
) {
  return start(node, [await compileProgram(file, 'build')], options);
}
