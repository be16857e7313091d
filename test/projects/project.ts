import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, run, writeJson } from '../package/folder.js';
import { freePort } from '../support/free-port.js';
import { type Started, start } from '../support/start.js';
import { type Tried, tryDeliveries } from './deliveries.js';

const SECRET = 'a secret for the small projects';

interface PackageJson {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** As in `pnpm@10.20.0`. Without it, npm installs the project. */
  readonly packageManager?: string;
}

/**
 * Installs a project of this folder with the packed package, builds it, and sends it the deliveries. A project
 * without a server runs its own test of them.
 */
export async function tryProject(name: string, tarball: string): Promise<Tried[]> {
  const folder = makeFolder();
  cpSync(join(import.meta.dirname, name), folder, { recursive: true });
  cpSync(join(import.meta.dirname, 'receiver.mjs'), join(folder, 'receiver.mjs'));
  const described: PackageJson = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const dependencies = { ...described.dependencies, 'storefront-webhooks': `file:${tarball}` };
  writeJson(folder, 'package.json', { ...described, dependencies });
  const { install, script } = packageManager(described.packageManager, folder);
  await run(folder, ...install);
  const { scripts } = described;
  if (scripts.build) await run(folder, ...script('build'));
  if (scripts.test) {
    await run(folder, ...script('test'));
    return [{ delivery: 'handled' }, { delivery: 'read before' }, { delivery: 'cut' }];
  }
  const server = await serve(folder, script('start'));
  try {
    return await tryDeliveries(server, SECRET);
  } finally {
    await server.stop();
  }
}

type Command = readonly [program: string, ...args: string[]];

function packageManager(
  named: string | undefined,
  folder: string,
): { install: Command; script: (name: string) => Command } {
  const [manager = 'npm', version] = named?.split('@') ?? [];
  const npx = (...args: string[]): Command => ['npx', '--yes', ...args];
  switch (manager) {
    case 'pnpm': {
      const pnpm = `pnpm@${version}`;
      return { install: npx(pnpm, 'install'), script: (name) => npx(pnpm, 'run', name) };
    }
    case 'yarn': {
      // Otherwise, Yarn takes a folder above for the project.
      writeFileSync(join(folder, 'yarn.lock'), '');
      const yarn = ['-p', `@yarnpkg/cli-dist@${version}`, 'yarn'];
      return {
        install: npx(...yarn, 'install', '--no-immutable'),
        script: (name) => npx(...yarn, 'run', name),
      };
    }
    case 'npm':
      return {
        install: ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline'],
        script: (name) => ['npm', 'run', '--silent', name],
      };
    default:
      throw new Error(`No test installs with ${manager}.`);
  }
}

/** Most frameworks take the port from the environment, and do not say which one the system chose. */
async function serve(folder: string, [program, ...args]: Command): Promise<Started> {
  const port = String(await freePort());
  const env = { PORT: port, HOST: '127.0.0.1', WEBHOOK_SECRET: SECRET, NODE_ENV: 'production' };
  const server = await start(program, args, { cwd: folder, env });
  return { ...server, origin: `http://127.0.0.1:${port}` };
}
