import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { onWorkers } from '../../tsup.config.js';

/** The limit of a gzipped Worker: its current size, rounded up, so that a large addition is noticed. */
export const BUDGETS = [
  { name: 'with the receiver in it', without: [], bytes: 41_610 },
  { name: 'without the schema library', without: ['zod'], bytes: 37_000 },
] as const;

const ENTRY = `
  import { createReceiver } from 'storefront-webhooks';
  import { toWorker } from 'storefront-webhooks/workers';
  export default toWorker((env) =>
    createReceiver({ secret: env.SECRET }).on('order:paid', async () => {}));
`;

export interface Bundle {
  /** Minified and gzipped. */
  readonly gzipped: number;
  readonly minified: number;
  /** Minified bytes by module, largest first. */
  readonly modules: readonly (readonly [name: string, bytes: number])[];
}

/**
 * Bundles a Worker as users do, from the built package in `folder`.
 *
 * @param options.code - The Worker, in TypeScript. Default: one that only receives.
 * @param options.fromSources - Bundles the sources instead, which shows the size of each module.
 */
export async function bundle(
  folder: string,
  {
    code = ENTRY,
    without = [],
    fromSources = false,
  }: { code?: string; without?: readonly string[]; fromSources?: boolean } = {},
): Promise<Bundle> {
  const { outputFiles, metafile } = await esbuild.build({
    stdin: { contents: code, resolveDir: folder, loader: 'ts' },
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    conditions: ['workerd', 'worker', 'browser'],
    target: 'es2022',
    external: [...without],
    // The `paths` of tsconfig.json point to the sources.
    ...(fromSources ? { plugins: [onWorkers] } : { tsconfigRaw: {} }),
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  const [output] = Object.values(metafile.outputs);
  const modules = Object.entries(output?.inputs ?? {})
    .map(([file, { bytesInOutput }]) => [file.replace(/^.*node_modules\//, ''), bytesInOutput])
    .filter((entry): entry is [string, number] => Number(entry[1]) > 0)
    .sort(([, a], [, b]) => b - a);
  return { gzipped: gzipSync(bytes, { level: 9 }).length, minified: bytes.length, modules };
}
