import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Started, start } from '../support/start.js';
import { installed } from './installed.js';

interface Worker {
  /** The file with the default export. */
  readonly entry: string;
  readonly compatibilityDate: string;
  readonly compatibilityFlags?: readonly string[];
  readonly secrets: Readonly<Record<string, string>>;
  /** The address that its own requests may reach. Default: public addresses only. */
  readonly reaches?: 'public' | 'private';
}

/** Bundles a Worker as Wrangler does, and serves the bundle with workerd. */
export async function startWorker(
  folder: string,
  { entry, compatibilityDate, compatibilityFlags = [], secrets, reaches = 'public' }: Worker,
): Promise<Started> {
  await build({
    entryPoints: [entry],
    outfile: join(folder, 'worker.mjs'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    minify: true,
    // The package itself, instead of its sources.
    tsconfigRaw: {},
  });
  const bindings = Object.entries(secrets).map(
    ([name, text]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)})`,
  );
  const config = join(folder, 'config.capnp');
  await writeFile(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
    compatibilityDate = ${JSON.stringify(compatibilityDate)},
    compatibilityFlags = ${JSON.stringify(compatibilityFlags)},
    bindings = [${bindings.join(', ')}],
  )), (name = "internet", network = (allow = [${JSON.stringify(reaches)}]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`,
  );
  return start(installed('.bin/workerd'), ['serve', '--control-fd=1', config]);
}
