import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

export type Environment = Readonly<Record<string, string>>;

// However this process ends, nothing is left behind.
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) kill(child);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(1));
}

/** Environment variables that are passed on to all processes. */
const FROM_OUTSIDE: Environment = {
  PATH: process.env.PATH ?? '',
  CHAOS_BREAK: process.env.CHAOS_BREAK ?? '',
  CHAOS_CLIENTS: process.env.CHAOS_CLIENTS ?? '',
};

/** Starts a program in its own process group, with a channel for messages. */
export function startChild(node: string, program: string, env: Environment): ChildProcess {
  const child = spawn(node, ['--no-warnings', program], {
    env: { ...FROM_OUTSIDE, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  // A message to a process that has just died is lost.
  child.on('error', () => {});
  return child;
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

export function kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (child.pid !== undefined && !hasEnded(child)) process.kill(-child.pid, signal);
}

/** Returns whether SIGSTOP has stopped the process. */
export function isStopped({ pid }: ChildProcess): boolean {
  try {
    // The state follows the name in parentheses.
    return /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Resolves with the first message that matches. */
export function nextMessage<Message>(
  child: ChildProcess,
  fits: (message: Message) => boolean,
): Promise<Message> {
  return new Promise((resolve, reject) => {
    const listen = (message: unknown) => {
      if (!fits(message as Message)) return;
      child.off('message', listen).off('exit', fail);
      resolve(message as Message);
    };
    const fail = (code: number | null) => {
      reject(new Error(`A process of the harness ended with ${code ?? child.signalCode}.`));
    };
    child.on('message', listen).once('exit', fail);
  });
}
