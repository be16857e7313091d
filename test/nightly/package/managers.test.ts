import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFolder, removeFolders, run, USERS, writeJson } from '../../package/folder.js';
import { install } from '../../package/older.js';
import { oldest, UNUSABLE } from '../../package/oldest.js';
import { packBuilt } from '../../package/packed.js';

/** How each package manager installs, as strict about peers as it can be, and how it only resolves. */
const MANAGERS = [
  {
    name: 'npm',
    file: 'npm/bin/npm-cli.js',
    arguments: ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--strict-peer-deps'],
    resolves: '--package-lock-only',
  },
  {
    name: 'pnpm',
    file: 'pnpm/bin/pnpm.cjs',
    arguments: [
      'install',
      '--no-frozen-lockfile',
      '--ignore-scripts',
      '--config.strict-peer-dependencies=true',
    ],
    resolves: '--lockfile-only',
  },
  {
    name: 'Yarn 1',
    file: 'yarn/bin/yarn.js',
    arguments: ['install', '--ignore-scripts', '--non-interactive'],
    resolves: '--pure-lockfile',
  },
  {
    name: 'Yarn 4',
    file: '@yarnpkg/cli-dist/bin/yarn.js',
    arguments: ['install'],
    resolves: '--mode=update-lockfile',
    // Its projects have no node_modules.
    node: ['@yarnpkg/cli-dist/bin/yarn.js', 'node'],
  },
] as const;

const VERSIONS = {
  npm: 'npm@11.19.1',
  pnpm: 'pnpm@9.8.0',
  'Yarn 1': 'yarn@1.22.22',
  'Yarn 4': '@yarnpkg/cli-dist@4.18.1',
};

const YARN_SETTINGS = `
enableGlobalCache: false
enableImmutableInstalls: false
enableScripts: false
enableTelemetry: false
`;

/** The files that Node runs in the documented lines for cron. Those in node_modules/.bin are shell scripts with pnpm. */
const COMMANDS = ['docs/recovery.md', 'src/cli/reconcile.ts'].map((file) => {
  const [, command] = / --env-file=\.env (\S+)/.exec(readFileSync(file, 'utf8')) ?? [];
  if (command === undefined) throw new Error(`${file} has no line for cron any more.`);
  return command;
});

const ANSWERS = ['200 handled', '200 duplicate', '401 rejected'];

describe.each(MANAGERS)('$name installs the package', (manager) => {
  let tarball: string;
  let managers: string;

  beforeAll(async () => {
    tarball = await packBuilt();
    // In folders of their own: both Yarns have a command of the same name.
    managers = await install([VERSIONS[manager.name]]);
  });
  afterAll(removeFolders);

  const program = (file: string) => join(managers, 'node_modules', file);

  function makeProject(versions: Readonly<Record<string, string>>): string {
    const folder = makeFolder();
    const dependencies = { ...versions, 'storefront-webhooks': `file:${tarball}` };
    writeJson(folder, 'package.json', { private: true, type: 'module', dependencies });
    cpSync(join(USERS, 'beside'), folder, { recursive: true });
    // Yarn 4 looks for the project in the folders above, unless there is a lock.
    writeFileSync(join(folder, 'yarn.lock'), '');
    writeFileSync(join(folder, '.yarnrc.yml'), YARN_SETTINGS);
    return folder;
  }

  test('beside frameworks in versions that it cannot use', async () => {
    const folder = makeProject(UNUSABLE);
    const { file, arguments: given, resolves } = manager;
    const printed = await run(folder, process.execPath, program(file), ...given, resolves);
    // Yarn 4 only warns of a peer that does not fit.
    expect(printed).not.toMatch(/doesn't satisfy what storefront-webhooks requests/);
  });

  test('beside the oldest versions of its frameworks, and each handles a delivery', async () => {
    const folder = makeProject({
      ...oldest('@opentelemetry/api', 'express', 'fastify', 'hono', 'koa'),
      // Yarn wants the builds for all platforms, which the registry does not have of 0.4.0.
      libsql: '0.5.29',
    });
    await run(folder, process.execPath, program(manager.file), ...manager.arguments);
    const node = 'node' in manager ? [program(manager.node[0]), manager.node[1]] : [];
    const printed = await run(folder, process.execPath, ...node, 'oldest.mjs');
    const handled = { express: ANSWERS, fastify: ANSWERS, hono: ANSWERS, koa: ANSWERS };
    expect(JSON.parse(printed)).toEqual(handled);
    if ('node' in manager) return;
    writeFileSync(join(folder, '.env'), '');
    for (const command of COMMANDS) {
      const version = await run(folder, process.execPath, '--env-file=.env', command, '--version');
      expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
    }
  });
});
