import { spawn } from 'node:child_process';

/**
 * Runs a command in the shell, and returns its output.
 *
 * @throws {Error} If it fails, or does not end in time.
 */
export function runForOutput(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // A process group of its own, so that a timeout also kills the processes that the command has started.
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
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      reject(new Error(`the command did not end within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
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
