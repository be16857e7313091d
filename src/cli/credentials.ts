import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import type { ClientAuth } from 'storefront-webhooks/api';
import type { Host } from './host.js';
import { readSecretFile } from './secrets.js';

/** Where a command takes the credentials of the provider's API from. */
export interface CredentialFlags {
  readonly tokenEnv: string;
  readonly tokenFile?: string;
  readonly email?: string;
  readonly apiKeyEnv: string;
}

/** Gives a command the flags that {@link readCredentials} reads. */
export function addCredentialFlags(command: Command): Command {
  return command
    .option('--token-env <name>', "the API's access token is in this variable", 'ACCESS_TOKEN')
    .option('--token-file <path>', 'the access token is in this file; - is stdin')
    .option('--email <address>', 'sign in as this seller, by an API key instead of a token')
    .option('--api-key-env <name>', 'the API key is in this variable', 'API_KEY');
}

/**
 * The credentials, which never stand on the command line itself.
 *
 * @throws {UsageError} Where there are none.
 */
export function readCredentials(flags: CredentialFlags, host: Host): ClientAuth {
  const { tokenEnv, tokenFile, email, apiKeyEnv } = flags;
  if (email !== undefined)
    return { email, apiKey: fromEnvironment(apiKeyEnv, '--api-key-env', host) };
  if (tokenFile === undefined) {
    return { accessToken: fromEnvironment(tokenEnv, '--token-env or --token-file', host) };
  }
  const accessToken = readSecretFile(tokenFile, host);
  if (accessToken !== '') return { accessToken };
  throw new UsageError('option_invalid', `There is no access token in ${tokenFile}: it is empty.`);
}

function fromEnvironment(name: string, flags: string, { env }: Host): string {
  const credential = env[name];
  if (credential) return credential;
  throw new UsageError(
    'option_invalid',
    `There are no credentials for the provider's API: set the environment variable ${name}, or name where they are with ${flags}.`,
  );
}
