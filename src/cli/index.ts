#!/usr/bin/env node
import { processHost } from './host.js';
import { run } from './run.js';

// Whoever reads the output may have seen enough, as `head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

void run(processHost).then((code) => {
  process.exitCode = code;
});
