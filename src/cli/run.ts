import { Command } from 'commander';
import { VERSION } from '../errors/log.js';
import { loadCommands } from './commands.js';
import { type ExitCode, report } from './failure.js';
import type { Host } from './host.js';
import { createPrinter, type Output } from './printer.js';
import type { Session } from './session.js';

/** Runs the command that the arguments of the host name, and returns its exit code. */
export async function run(host: Host): Promise<ExitCode> {
  const { stdout, stderr } = host;
  const program = new Command('storefront-webhooks')
    .description('Tools for receiving the webhooks of a digital-goods storefront.')
    .version(VERSION)
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help to list commands and options)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
    });

  let isJson = false;
  let code: ExitCode = 0;
  const printer = createPrinter(host, () => isJson);
  const session: Session = {
    host,
    printer,
    end(given) {
      code = given;
    },
  };

  for (const add of await loadCommands(host.args)) add(program, session);

  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) {
    command.option('--json', 'print a line of JSON for each result, also in a terminal');
  }
  program.hook('preAction', (_, command) => {
    // A command that has subcommands parses the flag for them, wherever the flag stands.
    isJson = command.optsWithGlobals().json === true;
  });

  try {
    await program.parseAsync(host.args, { from: 'user' });
    return code;
  } catch (error) {
    return report(error, printer);
  }
}

/** Returns the width for help texts, in columns. */
function widthOf({ isTTY, columns }: Output): number {
  return (isTTY && columns) || 80;
}
