import { spawn } from 'node:child_process';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Functions that kill the running commands. The signal of a terminal does not reach another process group. */
const running = new Set<() => void>();

function killWithProcess(kill: () => void): void {
  if (running.size === 0) for (const signal of SIGNALS) process.on(signal, killAll);
  running.add(kill);
}

function forget(kill: () => void): void {
  running.delete(kill);
  if (running.size === 0) for (const signal of SIGNALS) process.off(signal, killAll);
}

function killAll(signal: NodeJS.Signals): void {
  for (const kill of running) kill();
  running.clear();
  for (const one of SIGNALS) process.off(one, killAll);
  process.kill(process.pid, signal);
}

/**
 * Runs a command in the shell, and returns its output.
 *
 * @param ended - Ends the command before its time.
 * @throws {Error} If it fails, or does not end in time.
 */
export function runForOutput(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number,
  ended: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // A process group of its own, so that its end also kills the processes that the command has started.
    const child = spawn(command, {
      shell: true,
      detached: true,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (piece: Buffer) => {
      out += piece;
    });
    child.stderr.on('data', (piece: Buffer) => {
      err += piece;
    });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All of its processes have ended at this moment.
      }
      reject(new Error(`the command did not end within ${timeoutMs / 1000} s`));
    };
    killWithProcess(kill);
    const timer = setTimeout(kill, timeoutMs);
    ended.addEventListener('abort', kill);
    child.on('error', (error) => {
      forget(kill);
      reject(error);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      forget(kill);
      ended.removeEventListener('abort', kill);
      const [why = ''] = err.trim().split('\n').slice(-1);
      if (code === 0) resolve(out);
      else reject(new Error(`the command exited with ${code}${why === '' ? '' : `: ${why}`}`));
    });
  });
}

/**
 * Runs a command that may start a server, which keeps running after the command has ended.
 *
 * @throws {Error} If it fails, or does not end in time.
 */
export function runAndLeave(command: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, detached: true, stdio: 'ignore' });
    const timer = setTimeout(() => {
      reject(
        new Error(`the command did not end within ${timeoutMs / 1000} s: start the server with &`),
      );
    }, timeoutMs);
    child.on('error', reject);
    child.on('exit', (code) => {
      clearTimeout(timer);
      child.unref();
      if (code === 0) resolve();
      else reject(new Error(`the command exited with ${code}`));
    });
  });
}
