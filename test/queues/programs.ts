import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll } from 'vitest';

/** A process of `inside/program.ts`. */
export interface Program {
  /** Its first line. */
  readonly said: Promise<string>;
  /** By which signal it died, once it has. */
  readonly died: Promise<unknown>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

const ROOT = resolve(import.meta.dirname, '../..');

/** Where what it imports is found. */
const folder = mkdtempSync(join(ROOT, 'node_modules', '.queue-tests-'));
const running = new Set<ChildProcess>();
function cleanUp(): void {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
// With each file of tests that uses these, and whatever ends this process first.
afterAll(cleanUp);
process.once('exit', cleanUp);

let bundle: Promise<string> | undefined;

async function bundleProgram(): Promise<string> {
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'inside/program.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    tsconfig: join(ROOT, 'tsconfig.json'),
    external: [
      '@noble/hashes',
      'bullmq',
      'ioredis',
      'pg',
      'pg-boss',
      'pg-boss10',
      'raw-body',
      'zod',
    ],
    outfile,
  });
  return outfile;
}

export async function runProgram(env: Record<string, string>): Promise<Program> {
  bundle ??= bundleProgram();
  const child = spawn(process.execPath, [await bundle], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const died = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return signal ?? code;
  });
  const lines = createInterface({ input: child.stdout });
  return {
    said: once(lines, 'line').then(([line]) => line),
    died,
    async kill() {
      child.kill('SIGKILL');
      await died;
    },
  };
}
