import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Started, start } from '../support/start.js';
import { installed } from './installed.js';

const NEXT = installed('next/dist/bin/next');
const env = { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' } as const;

/** Builds a Next.js application without its secrets, and serves it with them. */
export async function buildAndStartNext(
  folder: string,
  secrets: Readonly<Record<string, string>>,
): Promise<Started> {
  // Next and the dependencies are in folders above, and the package here has no types.
  const config = { turbopack: { root: resolve('.') }, typescript: { ignoreBuildErrors: true } };
  await writeFile(join(folder, 'next.config.mjs'), `export default ${JSON.stringify(config)};`);
  const names = Object.keys(secrets);
  const open = Object.entries(process.env).filter(([name]) => !names.includes(name));
  await promisify(execFile)(process.execPath, [NEXT, 'build'], {
    cwd: folder,
    env: { ...Object.fromEntries(open), ...env },
    timeout: 220_000,
  });
  return startNext(folder, secrets);
}

/** Serves an application that has been built. */
export function startNext(
  folder: string,
  secrets: Readonly<Record<string, string>>,
): Promise<Started> {
  return start(process.execPath, [NEXT, 'start', '-H', '127.0.0.1'], {
    cwd: folder,
    env: { ...env, ...secrets },
  });
}
