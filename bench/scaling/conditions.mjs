import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

/** Returns the conditions of a measurement that is about to start. */
export function readConditions(folder) {
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    // The other load of the machine at the start: each whole number takes one core away.
    load: loadavg()[0],
    node: process.versions.node,
    postgres: version('postgres'),
    redis: version('redis-server'),
    // Each commit waits for a sync. Stores and queues share one among simultaneous calls.
    syncsPerSecond: syncsPerSecond(join(folder, 'sync')),
  };
}

function version(command) {
  try {
    return /\d+\.\d+(\.\d+)?/.exec(execFileSync(command, ['--version'], { encoding: 'utf8' }))[0];
  } catch {
    return undefined;
  }
}

/** Measures how often a second this disk confirms that a page is safely written. */
function syncsPerSecond(file) {
  const page = Buffer.alloc(4096);
  const descriptor = openSync(file, 'w');
  const startedAt = performance.now();
  let syncs = 0;
  while (performance.now() - startedAt < 1000) {
    writeSync(descriptor, page);
    fdatasyncSync(descriptor);
    syncs += 1;
  }
  closeSync(descriptor);
  return syncs;
}
