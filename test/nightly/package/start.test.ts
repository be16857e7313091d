import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { asShown } from '../../cli/command.js';
import { blocks, pageAt } from '../../docs/pages.js';
import { subpaths } from '../../package/entries.js';
import { makeFolder, removeFolders, run, writeJson } from '../../package/folder.js';
import { pack, toSpecifier } from '../../package/packed.js';
import { installed, withRuntimes } from '../../runtimes/installed.js';
import { freePort } from '../../support/free-port.js';

const page = pageAt('docs/start.md');
const [program = ''] = blocks(page, 'ts');
const [install = '', serve = ''] = blocks(page, 'sh');
const [sent = '', printed = ''] = blocks(page, 'console');

/** The last version of Node's types that TypeScript 5.4 can read. */
const OLD_TYPES = '22.10.0';

const readme = blocks(pageAt('README.md'), 'console').join('').trimEnd().split('\n');
const readmeCommands = readme.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
// The storefront's address depends on the port.
const readmeLines = readme.filter((line) => !/^(\$|The storefront)/.test(line));
const readmeExports =
  blocks(pageAt('README.md'), 'sh')
    .join('')
    .match(/^export .*$/gm) ?? [];

function isCut(line: string, whole: string): boolean {
  return line.endsWith('…') && whole.startsWith(line.slice(0, -1).trimEnd());
}

withRuntimes('docs/start.md, walked from an empty folder with the packed package', () => {
  let tarball: string;
  let typed: string;
  beforeAll(async () => {
    tarball = await pack();
    typed = makeFolder();
    const [, packages = ''] = /npm install (.*)/.exec(install) ?? [];
    await npmInstall(typed, [...packages.split(' '), `@types/node@${OLD_TYPES}`, '@types/express']);
  }, 300_000);
  afterAll(removeFolders);

  /** The commands of the page with the tarball, within a minute, or two beside other tests. */
  const npmInstall = (folder: string, packages: readonly string[]) =>
    run(
      folder,
      'npm',
      'install',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--ignore-scripts',
      ...packages.map((name) => (name === 'storefront-webhooks' ? tarball : name)),
    );

  test.each(['node20', 'node24'])(
    '%s handles the first delivery within two minutes, beside other tests',
    { timeout: 180_000 },
    async (node) => {
      const folder = makeFolder();
      const bin = join(folder, '.bin');
      mkdirSync(bin);
      cpSync(installed(`${node}/bin/node`), join(bin, 'node'));
      const port = await freePort();
      const env = {
        ...process.env,
        PATH: bin + delimiter + process.env.PATH,
        PORT: String(port),
        NO_COLOR: '1',
        // The lines of npx itself are not on the page.
        npm_config_progress: 'false',
        npm_config_loglevel: 'silent',
      };
      const shell = async (commands: string) =>
        (
          await promisify(execFile)('bash', ['-ec', commands], {
            cwd: folder,
            env,
            timeout: 120_000,
          })
        ).stdout;
      const began = performance.now();
      await shell(install.replace('storefront-webhooks', tarball));
      writeFileSync(join(folder, 'server.js'), program);
      const server = spawn(
        'bash',
        ['-ec', serve.replace('node server.js', 'exec node server.js')],
        { cwd: folder, env },
      );
      let output = '';
      for (const stream of [server.stdout, server.stderr]) {
        stream.setEncoding('utf8').on('data', (text) => {
          output += text;
        });
      }
      try {
        await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), {
          timeout: 20_000,
          interval: 50,
        });
        /** Returns the terminal's lines of a command of the page or of README.md. */
        const shown = async (command: string) => {
          const commands = [...readmeExports, `script -qec '${command}' /dev/null`].join('\n');
          const stdout = await shell(commands.replaceAll(':3000', `:${port}`));
          return asShown({ stdout }).lines.map((line) => line.replace(/\d+(\.\d+)? ms/, '9.1 ms'));
        };
        const [command = '', ...lines] = sent.trimEnd().split('\n');
        expect(await shown(command.slice(2))).toEqual(lines);
        const seconds = (performance.now() - began) / 1000;
        for (const line of printed.trim().split('\n')) expect(output).toContain(line);
        expect(seconds).toBeLessThan(120);
        // README.md has the same block a second time, and cuts long lines.
        const [again = ''] = readmeCommands.filter((line) => line.includes('--id fresh'));
        const all = [...lines, ...(await shown(again)), ...output.trim().split('\n')];
        const uncut = readmeLines.map((line) => all.find((one) => isCut(line, one)) ?? line);
        expect(all).toEqual(expect.arrayContaining(uncut));
        console.info(
          `${node}: ${seconds.toFixed(1)} s from the empty folder to the first delivery`,
        );
      } finally {
        server.kill('SIGTERM');
        await once(server, 'exit');
      }
      expect(server.exitCode ?? server.signalCode).toBe(0);
    },
  );

  const compilers = {
    '5.4': installed('typescript-5.4/bin/tsc'),
    '5.9': installed('typescript-5.9/bin/tsc'),
    '6': 'node_modules/typescript/bin/tsc',
    '7': installed('typescript-7/bin/tsc'),
  };
  /** A program with all types of the package, except for the subpaths whose types import a framework. */
  const everySubpath = Object.keys(subpaths)
    .filter((subpath) => !/fastify|hono|koa|opentelemetry/.test(subpath))
    .map((subpath, at) => `export * as subpath${at} from '${toSpecifier(subpath)}';\n`)
    .join('');

  const bundled = { module: 'esnext', moduleResolution: 'bundler', target: 'es2020' };
  const cases = [
    { version: '5.4', options: { module: 'nodenext' } },
    { version: '5.4', options: { module: 'commonjs', target: 'es2020' } },
    { version: '5.9', options: { module: 'commonjs' } },
    { version: '5.9', options: bundled },
    { version: '6', options: { module: 'nodenext' } },
    { version: '6', options: bundled },
    { version: '7', options: { module: 'nodenext' } },
    { version: '7', options: { module: 'commonjs', target: 'es2020' } },
  ] as const;

  test.each(cases)(
    'TypeScript $version compiles it, and reads the types of every subpath, with $options',
    { timeout: 120_000 },
    async ({ version, options }) => {
      const folder = join(typed, `${version}-${Object.values(options).join('-')}`);
      mkdirSync(folder);
      writeJson(folder, 'package.json', {
        type: options.module === 'commonjs' ? 'commonjs' : 'module',
      });
      writeFileSync(join(folder, 'server.ts'), program);
      writeFileSync(join(folder, 'subpaths.ts'), everySubpath);
      writeJson(folder, 'tsconfig.json', {
        compilerOptions: {
          target: 'es2022',
          strict: true,
          esModuleInterop: true,
          noEmit: true,
          types: ['node'],
          ...options,
        },
        files: ['server.ts', 'subpaths.ts'],
      });
      const tsc = resolve(compilers[version]);
      expect(await run(folder, process.execPath, tsc, '--pretty', 'false').catch(String)).toBe('');
    },
  );
});
