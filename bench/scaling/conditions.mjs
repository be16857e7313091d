import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

/** On what it is about to be measured. */
export function readConditions(folder) {
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    // What else the machine did at the start: of two cores, each whole number takes one away.
    load: loadavg()[0],
    node: process.versions.node,
    postgres: version('postgres'),
    redis: version('redis-server'),
    // What each commit waits for, and the stores and queues share among the calls of a moment.
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

/** How often a second this disk says that a page is safely written. */
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
