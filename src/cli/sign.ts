import type { Command } from 'commander';
import { sign } from 'storefront-webhooks/testing';
import { addSecretFlags, readSecrets, type SecretFlags } from './secrets.js';
import type { Session } from './session.js';
import { readBytes } from './source.js';

/** `sign`: the signature of a body. */
export function addSign(program: Command, session: Session): void {
  const { host, printer } = session;
  const command = program
    .command('sign <file>')
    .summary('print the signature of a body')
    .description('Prints the signature of a body: of a file, or of stdin for -. Works offline.');
  addSecretFlags(command)
    .addHelpText('after', '\nExample:\n  signature=$(npx storefront-webhooks sign body.json)')
    .action((file: string, flags: SecretFlags & { readonly json?: true }) => {
      const [secret] = readSecrets(flags, session);
      const body = readBytes(file, host);
      const signature = sign(body, secret);
      // In a pipe as well: it is for $(…).
      if (flags.json) printer.found({ signature, bytes: body.length }, () => signature);
      else printer.write(`${signature}\n`);
    });
}
