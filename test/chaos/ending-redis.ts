import { spawn } from 'node:child_process';

/** Waits for the end of its input, which ends with the harness, and then for the end of the server. */
const SCRIPT = `
  const [, port] = process.argv;
  let said = '';
  let folder;
  process.stdin.resume().once('end', () => {
    const socket = require('node:net').connect(Number(port), '127.0.0.1');
    socket.on('error', () => {}).on('data', (piece) => {
      said += piece;
      if (folder || !said.endsWith('\\r\\n')) return;
      // Read the folder first: the server does not answer any more after it was asked to end.
      [folder] = /\\/\\S+/.exec(said) ?? [];
      socket.write('SHUTDOWN NOSAVE\\r\\n');
    });
    socket.once('close', () => {
      if (folder) require('node:fs').rmSync(folder, { recursive: true, force: true });
    });
    socket.write('CONFIG GET dir\\r\\n');
  });
`;

/**
 * Ends a Redis and deletes its folder even if this process is killed.
 *
 * @returns A function that leaves the server alone from then on.
 */
export function endWithUs(port: number): () => void {
  const watcher = spawn(process.execPath, ['-e', SCRIPT, `${port}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  // This process need not stay alive for it.
  if (watcher.stdin && 'unref' in watcher.stdin) (watcher.stdin as { unref(): void }).unref();
  return () => void watcher.kill('SIGKILL');
}
