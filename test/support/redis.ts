import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';

/** A Redis or Valkey server for tests, in its own process and folder. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Shuts it down, as an operator does. */
  stop(): Promise<void>;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the data of its folder. */
  start(): Promise<void>;
  /** Stops it and deletes its folder. */
  remove(): Promise<void>;
}

export interface RedisOptions {
  /** Further arguments; later ones override earlier ones. */
  args?: string[];
  /** The program. Default: the first of {@link redisBinaries}. */
  binary?: string;
}

/** The installed programs among `redis-server` and `valkey-server`. */
export const redisBinaries: readonly string[] = ['redis-server', 'valkey-server'].filter(
  (binary) => spawnSync(binary, ['--version']).status === 0,
);

/** The reason why tests that need a real server cannot run here. */
export const missingRedis: string | undefined =
  redisBinaries.length > 0
    ? undefined
    : 'Redis is not installed: apt-get install redis-server (or valkey-server)';

/** Tests that need a real server. Without one, a single skipped test explains it; CI must have one. */
export function withRedis(name: string, tests: () => void): void {
  if (!missingRedis || process.env.CI) describe(name, tests);
  else test.skip(`${name}: ${missingRedis}`, () => {});
}

/**
 * Starts a server on 127.0.0.1, on a free port and in a new folder. It writes each command to its disk before
 * it answers.
 */
export async function startRedis({
  args = [],
  binary = redisBinaries[0],
}: RedisOptions = {}): Promise<RedisServer> {
  if (!binary) throw new Error(missingRedis);
  const folder = await mkdtemp(join(tmpdir(), 'wh-redis-'));
  folders.add(folder);
  const options = ['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--daemonize', 'no'];
  options.push('--appendonly', 'yes', '--appendfsync', 'always', ...args);

  const run = (port: number) => spawnServer(binary, ['--port', String(port), ...options]);
  let child: ChildProcess | undefined;
  let port = 0;
  for (let attempt = 1; !child; attempt++) {
    port = randomPort();
    // The port may be taken.
    child = await run(port).catch((error: unknown) => {
      if (attempt >= 10) throw error;
      return undefined;
    });
  }

  const end = async (signal: NodeJS.Signals) => {
    if (child) await endOf(child, signal);
    child = undefined;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    start: async () => {
      child ??= await run(port);
    },
    remove: async () => {
      await end('SIGKILL');
      removeFolder(folder);
    },
  };
}

const START_MS = 30_000;

/** Starts it, and waits until it accepts connections. By then, the data of its folder is loaded. */
async function spawnServer(binary: string, args: string[]): Promise<ChildProcess> {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let written = '';
  try {
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${binary} does not start`)), START_MS);
      const listen = (piece: Buffer) => {
        // Read to the end, so that the pipe never fills up, but keep only what is needed.
        if (written.length < 20_000) written += piece;
        if (!/Ready to accept connections/.test(written)) return;
        clearTimeout(late);
        resolve();
      };
      child.stdout.on('data', listen);
      child.stderr.on('data', listen);
      child.on('error', reject).on('close', (code) => {
        clearTimeout(late);
        running.delete(child);
        reject(new Error(`${binary} ${args.join(' ')} ended with ${code}:\n${written}`));
      });
    });
    return child;
  } catch (error) {
    await endOf(child, 'SIGKILL');
    throw error;
  }
}

async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill(signal);
  await closed;
}

/**
 * Avoids the ports of outgoing connections, and the ports 10,000 below, where a node of a cluster listens as
 * well: a client that tries to reconnect to a server that is down would in the end connect to itself, and keep
 * the server off its port.
 */
const randomPort = () => randomInt(10_240, 22_768);

// However this process ends, nothing is left behind.
const running = new Set<ChildProcess>();
const folders = new Set<string>();

function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) removeFolder(folder);
});
