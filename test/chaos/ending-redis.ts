import { spawn } from 'node:child_process';

/** Waits for the end of its input, which is that of the harness, and then for that of the server. */
const SCRIPT = `
  const [, port] = process.argv;
  let said = '';
  let folder;
  process.stdin.resume().once('end', () => {
    const socket = require('node:net').connect(Number(port), '127.0.0.1');
    socket.on('error', () => {}).on('data', (piece) => {
      said += piece;
      if (folder || !said.endsWith('\\r\\n')) return;
      // Where it is has to be asked first: it does not answer any more once it is told to end.
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
 * Ends a Redis and deletes its folder also where this process is killed, and can do nothing any more.
 *
 * @returns Leaves the server alone from then on.
 */
export function endWithUs(port: number): () => void {
  const watcher = spawn(process.execPath, ['-e', SCRIPT, `${port}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  // While it waits, this process may end.
  if (watcher.stdin && 'unref' in watcher.stdin) (watcher.stdin as { unref(): void }).unref();
  return () => void watcher.kill('SIGKILL');
}
