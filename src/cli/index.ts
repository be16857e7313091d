#!/usr/bin/env node
import { processHost } from './host.js';
import { run } from './run.js';

const UNFINISHED =
  'storefront-webhooks: the command could not finish, because a promise never settles. With --receiver, check that file: each top-level await, makeReceiver, delivered, the ledger and the handlers.';

// A command that changes something runs to its end, and exits with its own status, even if its output is not read.
const mustEnd = processHost.args.includes('--apply');

// The other commands test or send something: if their output is cut short, they have not shown that all is well.
const onlyPrints =
  /^(help|completion|sign|dead (list|show|count))( |$)|(^| )(-h|--help|-V|--version)( |$)/.test(
    processHost.args.filter((arg) => arg !== '--json').join(' '),
  );

let isOutputLost = false;

/** Reports once that the output is incomplete, as on a full disk, also by the exit code of a command that runs on. */
function noteLostOutput({ message }: Error): void {
  if (isOutputLost) return;
  isOutputLost = true;
  process.stderr.write(`storefront-webhooks: the output cannot be written: ${message}\n`);
  process.once('exit', () => {
    process.exitCode ||= 1;
  });
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of the output, such as `head`, may close the pipe early.
    if (error.code === 'EPIPE') {
      if (stream === process.stdout && !mustEnd) process.exit(onlyPrints ? 0 : 1);
    } else {
      noteLostOutput(error);
      if (!mustEnd) process.exit(1);
    }
  });
}

// Node exits with 0 if nothing keeps it alive, also while the command still waits for a promise.
const failUnfinished = () => {
  process.exitCode = 1;
  process.stderr.write(`${UNFINISHED}\n`);
};
process.once('beforeExit', failUnfinished);

void run(processHost).then((code) => {
  process.off('beforeExit', failUnfinished);
  process.exitCode = code;
});
