import type { Command } from 'commander';
import { sign } from 'storefront-webhooks/testing';
import type { Printer } from './printer.js';
import { addSecretFlags, readSecrets, type SecretFlags } from './secrets.js';
import { readBytes } from './source.js';

/** `sign`: the signature of a body. */
export function addSign(program: Command, printer: Printer): void {
  const command = program
    .command('sign <file>')
    .summary('print the signature of a body')
    .description('Prints the signature of a body: of a file, or of stdin for -. Works offline.');
  addSecretFlags(command)
    .addHelpText(
      'after',
      '\nExample:\n  npx storefront-webhooks sign body.json --secret-env WEBHOOK_SECRET',
    )
    .action((file: string, flags: SecretFlags) => {
      const [secret] = readSecrets(flags, printer);
      const body = readBytes(file);
      const signature = sign(body, secret);
      printer.found({ signature, bytes: body.length }, () => signature);
    });
}
