import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, vi } from 'vitest';
import { builtCommand } from '../support/program.js';
import { recordsIn } from './command.js';

interface Settings {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

/** Runs the built command in a process of its own, which is killed at the end of the test. */
export function spawnCommand(args: readonly string[], settings: Settings = {}) {
  return follow([process.execPath, builtCommand(), ...args], settings);
}

/** Runs the built command in a real terminal, which `script` provides. Both outputs go to one stream. */
export function spawnInTerminal(columns: number, args: readonly string[], settings: Settings = {}) {
  const words = [process.execPath, builtCommand(), ...args].map(
    (word) => `'${word.replaceAll("'", `'\\''`)}'`,
  );
  const command = `stty cols ${columns}; exec ${words.join(' ')}`;
  const { env, ...rest } = settings;
  return follow(['script', '-qec', command, '/dev/null'], {
    ...rest,
    env: { TERM: 'xterm-256color', ...env },
  });
}

/** Runs any program, and collects its output. */
export function follow(
  [command = '', ...args]: readonly string[],
  { env = {}, input, cwd = process.cwd() }: Settings,
) {
  // Remove the variables that a developer may have set.
  const { WEBHOOK_SECRET: _, NO_COLOR: __, ...inherited } = process.env;
  const child = spawn(command, args, { cwd, env: { ...inherited, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      written[stream] += text;
    });
  }
  // The command may have ended without reading its input.
  child.stdin.on('error', () => {});
  if (input !== undefined) child.stdin.end(input);
  const ended = once(child, 'close').then(([status]: unknown[]) => ({
    status,
    ...written,
    records: () => recordsIn(written.stdout),
  }));
  return {
    child,
    ended,
    /** Resolves as soon as the output contains the text. */
    says: (stream: 'stdout' | 'stderr', wanted: string) =>
      vi.waitFor(() => expect(written[stream]).toContain(wanted), { interval: 5 }),
    output: () => written.stdout + written.stderr,
  };
}
