import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll } from 'vitest';

/** A process that runs a file of `inside`. */
export interface Program {
  /** The first line that the process prints. */
  readonly said: Promise<string>;
  /** The signal that killed it; pending while it runs. */
  readonly died: Promise<unknown>;
  /** Sends SIGTERM. */
  stop(): void;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

const ROOT = resolve(import.meta.dirname, '../..');

/** Bundles into a folder in which the imports resolve. */
const folder = mkdtempSync(join(ROOT, 'node_modules', '.queue-tests-'));
const running = new Set<ChildProcess>();
function cleanUp(): void {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
// End the programs and remove the bundles after each file of tests, and also if this process ends before that.
afterAll(cleanUp);
process.once('exit', cleanUp);

const bundles = new Map<string, Promise<string>>();

async function bundleProgram(name: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, `inside/${name}.ts`)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    // This package declares no side effects, but its tests have some.
    ignoreAnnotations: true,
    tsconfig: join(ROOT, 'tsconfig.json'),
    external: ['@noble/hashes', 'bullmq', 'ioredis', 'pg', 'pg-boss', 'raw-body', 'zod'],
    outfile,
  });
  return outfile;
}

export async function runProgram(env: Record<string, string>, name = 'program'): Promise<Program> {
  const bundle = bundles.get(name) ?? bundleProgram(name);
  bundles.set(name, bundle);
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
    stop() {
      child.kill('SIGTERM');
    },
    async kill() {
      child.kill('SIGKILL');
      await died;
    },
  };
}
