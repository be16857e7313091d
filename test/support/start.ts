import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A server in its own process. */
export interface Started {
  /** The address that it prints. */
  readonly origin: string;
  /** The text that it has written so far to both outputs. */
  output(): string;
  /** Asks it to end, as an operator does. */
  terminate(): void;
  /** The exit code, after it has ended. */
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

/**
 * Starts a server on a port that the system chooses, and waits until it has printed its address. All processes of
 * its group end with it.
 */
export async function start(
  command: string,
  args: readonly string[],
  { env = {}, cwd = process.cwd() }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Started> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  let written = '';
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const port = new Promise<string>((resolve, reject) => {
    const listen = (piece: Buffer) => {
      written += piece;
      // A program prints a sentence with its URL, and workerd prints JSON with its port.
      const [, found] = /(?:https?:\/\/[\w.[\]:-]+?|"port"):([1-9]\d*)/.exec(written) ?? [];
      if (found) resolve(found);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    const late = setTimeout(() => {
      reject(new Error(`${command} ${args.join(' ')} does not say where it listens:\n${written}`));
    }, START_MS);
    void ended.then(() => clearTimeout(late));
    child.on('error', reject).on('close', (code) => {
      reject(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${written}`));
    });
  });
  try {
    return {
      origin: `http://127.0.0.1:${await port}`,
      output: () => written,
      terminate: () => child.kill('SIGTERM'),
      ended,
      stop: () => stop(child),
    };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

const START_MS = 60_000;

// However this process ends, nothing is left behind.
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) kill(child);
});

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  kill(child);
  await closed;
}

function kill(child: ChildProcess): void {
  running.delete(child);
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-child.pid, 'SIGKILL');
}
