#!/usr/bin/env node
import { processHost } from './host.js';
import { run } from './run.js';

// The reader of the output, such as `head`, may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

void run(processHost).then((code) => {
  process.exitCode = code;
});
