import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, test } from 'vitest';
import { freePort } from './free-port.js';

/** A PostgreSQL server for tests, with an empty database. */
export interface PostgresServer {
  /** The address for the superuser `postgres`, who needs no password. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** `fast` disconnects clients and writes everything to disk; `immediate` simulates a crash. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  /** Starts it again with the same port and data. */
  start(): Promise<void>;
  /** Stops it and deletes its data. */
  remove(): Promise<void>;
}

const HOST = '127.0.0.1';
const bin = findBinaries();

/** The reason why no server can be started here. */
export const missingPostgres: string | undefined = bin
  ? undefined
  : 'PostgreSQL is not installed: apt-get install postgresql';

/** Tests that need a server. Without one, a single skipped test explains it; CI must have one. */
export function withPostgres(name: string, tests: () => void): void {
  if (!missingPostgres || process.env.CI) describe(name, tests);
  else test.skip(`${name}: ${missingPostgres}`, () => {});
}

/**
 * Starts a server on a port that the system chooses. The server ends with this process.
 *
 * @param settings - Settings of the server, such as `{ max_connections: '20' }`.
 * @param environment - Further variables of its environment.
 */
export async function startPostgres(
  settings: Record<string, string> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'wh-postgres-'));
  folders.add(folder);
  const user = notRoot();
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-locale', '-N'];
  await finish(run('initdb', initdb, { cwd: folder, ...user }));

  const port = await freePort(HOST);
  const args = ['-D', data, '-h', HOST, '-p', `${port}`, '-k', folder];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  let child: Run | undefined;
  const server: PostgresServer = {
    url: `postgres://postgres@${HOST}:${port}/postgres`,
    host: HOST,
    port,
    async start() {
      const env = { ...process.env, ...environment };
      child = run('postgres', args, { cwd: folder, env, ...user });
      watch(child.process, folder);
      await ready(child);
    },
    async stop(mode = 'fast') {
      const running = child;
      child = undefined;
      if (!running) return;
      running.process.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await running.ended;
    },
    async remove() {
      await server.stop('immediate');
      rmSync(folder, { recursive: true, force: true });
      folders.delete(folder);
    },
  };
  await server.start();
  return server;
}

// However this process ends, nothing is left behind.
const running = new Set<ChildProcess>();
const folders = new Set<string>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGQUIT');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Ends a server even if this process is killed: then the end of its input makes `read` return. */
function watch(child: ChildProcess, folder: string): void {
  const script =
    'read _; kill -QUIT "$1"; while kill -0 "$1" 2>/dev/null; do sleep 0.1; done; rm -rf "$2"';
  const watcher = spawn('sh', ['-c', script, 'sh', `${child.pid}`, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  child.once('close', () => watcher.kill('SIGKILL'));
}

interface Run {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

function run(command: string, args: string[], options: SpawnOptions): Run {
  if (!bin) throw new Error(missingPostgres);
  const child = spawn(join(bin, command), args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let written = '';
  const listen = (piece: Buffer) => {
    written += piece;
  };
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);
  // Waits for the server and all its processes, which share its output.
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  return { process: child, ended, output: () => written };
}

async function finish({ ended, output }: Run): Promise<void> {
  const code = await ended;
  if (code !== 0) throw new Error(`initdb ended with ${code}:\n${output()}`);
}

async function ready({ process: child, ended, output }: Run): Promise<void> {
  const early = ended.then((code) => {
    throw new Error(`postgres ended with ${code}:\n${output()}`);
  });
  // Needed only until the server is ready.
  early.catch(() => {});
  while (!output().includes('ready to accept connections')) {
    await Promise.race([once(child.stderr ?? child, 'data'), early]);
  }
}

/** The folder of the newest server programs: on the PATH, or next to Debian's `psql`. */
function findBinaries(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const debian = '/usr/lib/postgresql';
  const isDebian = existsSync(debian) && folders.some((folder) => existsSync(join(folder, 'psql')));
  const versions = isDebian ? readdirSync(debian).sort((a, b) => +b - +a) : [];
  return [...folders, ...versions.map((version) => join(debian, version, 'bin'))].find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  );
}

/** PostgreSQL does not run as root. */
export function notRoot(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
