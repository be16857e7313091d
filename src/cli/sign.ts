import type { Command } from 'commander';
import { sign } from 'storefront-webhooks/testing';
import { addSecretFlags, readSecrets, type SecretFlags } from './secrets.js';
import type { Session } from './session.js';
import { readBytes } from './source.js';

/** Adds `sign`, which prints the signature of a body. */
export function addSign(program: Command, session: Session): void {
  const { host, printer } = session;
  const command = program
    .command('sign <file>')
    .summary('print the signature of a body')
    .description(
      'Prints the signature of a body. <file> is the file that holds the body, or - for stdin. Works offline.',
    );
  addSecretFlags(command)
    .addHelpText('after', '\nExample:\n  signature=$(npx storefront-webhooks sign body.json)')
    .action((file: string, flags: SecretFlags & { readonly json?: true }) => {
      const [secret] = readSecrets(flags, session);
      const body = readBytes(file, host);
      const signature = sign(body, secret);
      // Not JSON in a pipe either, because $(…) uses the output.
      if (flags.json) printer.found({ signature, bytes: body.length }, () => signature);
      else printer.write(`${signature}\n`);
    });
}
