import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// Neither node:sqlite nor pg-boss 12 runs on Node 20.
const NODE_24 = fileURLToPath(
  new URL('../../test/runtimes/node_modules/node24/bin/node', import.meta.url),
);
const RUNTIMES = { sqlite: NODE_24, 'pg-boss': NODE_24 };

/** Runs a measurement in its own process, so that its leftovers do not affect the next one. */
export async function inProcess(file, task) {
  const child = start(RUNTIMES[task.store ?? task.queue] ?? process.execPath, `measured/${file}`, {
    SCALING_TASK: JSON.stringify(task),
  });
  return JSON.parse(await firstLine(child, file));
}

/** Starts a server of the other benchmarks. Returns its process and its port. */
export async function startServer(file, secret) {
  const child = start(process.execPath, `../servers/${file}`, {
    NODE_ENV: 'production',
    WEBHOOK_SECRET: secret,
  });
  return { child, port: Number(await firstLine(child, file)) };
}

function start(node, file, environment) {
  // The child's stdin stays open as long as this process lives.
  return spawn(node, [fileURLToPath(new URL(file, import.meta.url))], {
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function firstLine(child, file) {
  const failed = once(child, 'close').then(([code]) => {
    throw new Error(`${file} ended with ${code} and said nothing`);
  });
  const line = once(createInterface(child.stdout), 'line').then(([text]) => text);
  // One of the two always settles after the race.
  failed.catch(() => {});
  return Promise.race([line, failed]);
}
