import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

export type Program = 'receiver' | 'claims' | 'measure' | 'overload' | 'storm';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles the programs of the processes from the sources, one file each, so that they start quickly. */
export async function buildPrograms(): Promise<Record<Program, string>> {
  const folder = mkdtempSync(join(root, 'node_modules', '.chaos-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const programs = ['receiver', 'claims', 'measure', 'overload', 'storm'] as const;
  await esbuild.build({
    entryPoints: programs.map((name) => join(root, `test/chaos/inside/${name}-process.ts`)),
    absWorkingDir: root,
    bundle: true,
    inject: [join(root, 'test/chaos/inside/clock.ts')],
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    // BullMQ is loaded as it is installed.
    external: ['pg-native', 'pg-cloudflare', 'bullmq'],
    logLevel: 'error',
  });
  const file = (name: Program) => join(folder, `${name}-process.cjs`);
  return {
    receiver: file('receiver'),
    claims: file('claims'),
    measure: file('measure'),
    overload: file('overload'),
    storm: file('storm'),
  };
}
