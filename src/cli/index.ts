#!/usr/bin/env node
import { Command } from 'commander';
import { VERSION } from '../report/version.js';
import { addCheck } from './check.js';
import { addCompletion } from './completion.js';
import { addDead } from './dead.js';
import { addDoctor } from './doctor.js';
import { addDrill } from './drill.js';
import { type ExitCode, report } from './failure.js';
import { createPrinter } from './printer.js';
import { addReconcile } from './reconcile.js';
import { addRecord } from './record.js';
import { addRecover } from './recover.js';
import { addReplay } from './replay.js';
import { addSandbox } from './sandbox.js';
import { addSave } from './save.js';
import { addSend } from './send.js';
import { addSign } from './sign.js';
import { addVerify } from './verify.js';

const program = new Command('storefront-webhooks')
  .description('Tools for receiving the webhooks of a digital-goods storefront.')
  .version(VERSION)
  .showSuggestionAfterError()
  .showHelpAfterError('(add --help for what there is)')
  .exitOverride()
  .configureOutput({
    writeOut: (text) => process.stdout.write(text),
    writeErr: (text) => process.stderr.write(text),
  });

let isJson = false;
const printer = createPrinter(process, () => isJson);
const end = (code: ExitCode) => {
  process.exitCode = code;
};

addSandbox(program, printer);
addSend(program, printer, end);
addReplay(program, printer, end);
addRecord(program, printer);
addSave(program, printer);
addSign(program, printer);
addVerify(program, printer, end);
addDead(program, printer, end);
addRecover(program, printer, end);
addReconcile(program, printer, end);
addDrill(program, printer, end);
addDoctor(program, printer, end);
addCheck(program, printer, end);
addCompletion(program, printer);

for (const command of program.commands.flatMap((one) => [one, ...one.commands])) {
  command.option('--json', 'print a line of JSON for each, also in a terminal');
}
program.hook('preAction', (_, command) => {
  // A command with commands below it takes the flag for them, wherever it stands.
  isJson = command.optsWithGlobals().json === true;
});

// Whoever reads the output may have seen enough, as `head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

program.parseAsync().catch((error) => end(report(error, printer)));
