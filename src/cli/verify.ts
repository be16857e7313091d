import type { Command } from 'commander';
import { verifySignature } from 'storefront-webhooks';
import { commandLines } from './lines.js';
import { addSecretFlags, readNamedSecrets, type SecretFlags, secretArgs } from './secrets.js';
import type { Session } from './session.js';
import { quote } from './shell.js';
import { readBytes } from './source.js';

/** Adds `verify`, which checks whether a signature matches a body. */
export function addVerify(program: Command, session: Session): void {
  const { host, printer } = session;
  const command = program
    .command('verify <file> <signature>')
    .summary('check whether a signature matches a body')
    .description(
      'Checks whether a signature matches a body. <file> is the file that holds the body, or - for stdin. Works offline.',
    );
  addSecretFlags(command)
    .addHelpText(
      'after',
      '\nWith several secrets, any of them may match. The command exits with 1 if no secret matches.' +
        '\n\nExample:\n  npx storefront-webhooks verify body.json 3a7b… --secret-env WEBHOOK_SECRET',
    )
    .action((file: string, signature: string, flags: SecretFlags) => {
      const body = readBytes(file, host);
      const secrets = readNamedSecrets(flags, session);
      const fitting = secrets.find(({ secret }) => verifySignature(body, signature, secret));
      const valid = fitting !== undefined;
      printer.found({ valid, ...(valid && { secret: fitting.name }), bytes: body.length }, () =>
        valid
          ? printer.paint.green(
              `The signature matches these ${body.length} bytes${secrets.length > 1 ? `, with the secret of ${fitting.name}` : ''}.`,
            )
          : [
              printer.paint.red(`The signature does not match these ${body.length} bytes.`),
              ...commandLines(
                'Why: ',
                [
                  'npx storefront-webhooks doctor',
                  quote(file),
                  quote(signature),
                  ...secretArgs(flags),
                ].join(' '),
                printer.columns,
              ),
            ],
      );
      session.end(valid ? 0 : 1);
    });
}
