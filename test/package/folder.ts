import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Files of the package's users. */
export const USERS = join(ROOT, 'test', 'package', 'users');

const temporary: string[] = [];

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
  temporary.push(folder);
  return folder;
}

export function removeFolders(): void {
  for (const folder of temporary.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Runs a command and returns its output. If it fails, the error contains both outputs. */
export async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, args, { cwd, maxBuffer: 2 ** 24 })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

const SOURCES = [
  ...['package.json', 'tsconfig.json', 'tsconfig.declarations.json', 'tsup.config.ts'],
  ...['README.md', 'LICENSE'],
];
const FOLDERS = ['src', 'adapters', 'fixtures'];

/** Builds the package next to the repository, because other tests may be using `dist`. */
export async function build({ types }: { types: boolean }): Promise<string> {
  const folder = makeFolder();
  for (const name of [...SOURCES, ...FOLDERS]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  // The build of the CI run.
  if (process.env.DIST) {
    cpSync(join(ROOT, process.env.DIST), join(folder, 'dist'), { recursive: true });
    return folder;
  }
  const tsup = join('node_modules', 'tsup', 'dist', 'cli-default.js');
  await run(folder, process.execPath, tsup, '--silent', ...(types ? [] : ['--no-dts']));
  return folder;
}

export function writeJson(folder: string, name: string, content: unknown): void {
  writeFileSync(join(folder, name), JSON.stringify(content));
}
