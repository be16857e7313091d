import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, test } from 'vitest';
import { freePort } from './free-port.js';
import { missingPostgres, notRoot, type PostgresServer } from './postgres.js';

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
const program = folders
  .map((folder) => join(folder, 'pgbouncer'))
  .find((program) => existsSync(program));

/** Tests that need PgBouncer. Without it, a single skipped test explains it; CI must have it. */
export function withPgbouncer(name: string, tests: () => void): void {
  const missing =
    missingPostgres ??
    (program ? undefined : 'PgBouncer is not installed: apt-get install pgbouncer');
  if (!missing || process.env.CI) describe(name, tests);
  else test.skip(`${name}: ${missing}`, () => {});
}

/** Starts PgBouncer in transaction mode in front of a server, with two connections to it. */
export async function startPgbouncer(server: PostgresServer) {
  if (!program) throw new Error('PgBouncer is not installed.');
  const folder = mkdtempSync(join(tmpdir(), 'wh-pgbouncer-'));
  const user = notRoot();
  const port = await freePort('127.0.0.1');
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
postgres = host=${server.host} port=${server.port} dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
`,
  );
  if (user) for (const path of [folder, file]) chownSync(path, user.uid, user.gid);
  const child = spawn(program, [file], { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  while (!said.includes('process up')) {
    const [piece] = await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
    if (!(piece instanceof Buffer)) throw new Error(`pgbouncer ended:\n${said}`);
    said += piece;
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async close() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
