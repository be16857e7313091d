#!/usr/bin/env node
import { Command } from 'commander';
import { VERSION } from '../report/version.js';
import { report } from './failure.js';
import { createPrinter } from './printer.js';
import { addSandbox } from './sandbox.js';

const printer = createPrinter(process);

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

addSandbox(program, printer);

program.parseAsync().catch((error) => {
  process.exitCode = report(error, printer);
});
