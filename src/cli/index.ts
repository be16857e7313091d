#!/usr/bin/env node
import { processHost } from './host.js';
import { run } from './run.js';

// A command that changes something runs to its end, and exits with its own status, even if its output is not read.
const mustEnd = processHost.args.includes('--apply');

// The reader of the output, such as `head`, may close the pipe early.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stream === process.stdout && !mustEnd) process.exit();
  });
}

void run(processHost).then((code) => {
  process.exitCode = code;
});
