import { Command } from 'commander';
import { VERSION } from '../report/version.js';
import { addCheck } from './check.js';
import { addCompletion } from './completion.js';
import { addDead } from './dead.js';
import { addDoctor } from './doctor.js';
import { addDrill } from './drill.js';
import { type ExitCode, report } from './failure.js';
import type { Host } from './host.js';
import { createPrinter, type Output } from './printer.js';
import { addReconcile } from './reconcile.js';
import { addRecord } from './record.js';
import { addRecover } from './recover.js';
import { addReplay } from './replay.js';
import { addSandbox } from './sandbox.js';
import { addSave } from './save.js';
import { addSend } from './send.js';
import type { Session } from './session.js';
import { addSign } from './sign.js';
import { addVerify } from './verify.js';

/** Runs the command that the arguments of the host name, and gives its exit code. */
export async function run(host: Host): Promise<ExitCode> {
  const { stdout, stderr } = host;
  const program = new Command('storefront-webhooks')
    .description('Tools for receiving the webhooks of a digital-goods storefront.')
    .version(VERSION)
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help for what there is)')
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

  addSandbox(program, session);
  addSend(program, session);
  addReplay(program, session);
  addRecord(program, session);
  addSave(program, session);
  addSign(program, session);
  addVerify(program, session);
  addDead(program, session);
  addRecover(program, session);
  addReconcile(program, session);
  addDrill(program, session);
  addDoctor(program, session);
  addCheck(program, session);
  addCompletion(program, session);

  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) {
    command.option('--json', 'print a line of JSON for each, also in a terminal');
  }
  program.hook('preAction', (_, command) => {
    // A command with commands below it takes the flag for them, wherever it stands.
    isJson = command.optsWithGlobals().json === true;
  });

  try {
    await program.parseAsync(host.args, { from: 'user' });
    return code;
  } catch (error) {
    return report(error, printer);
  }
}

/** For how many columns a help text is laid out. */
function widthOf({ isTTY, columns }: Output): number {
  return (isTTY && columns) || 80;
}
