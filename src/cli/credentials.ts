import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import type { ClientAuth } from 'storefront-webhooks/api';
import type { Host } from './host.js';
import { readSecretFile } from './secrets.js';

/** The flags that name the credentials for the provider's API. */
export interface CredentialFlags {
  readonly tokenEnv: string;
  readonly tokenFile?: string;
  readonly email?: string;
  readonly apiKeyEnv: string;
}

/** Adds the flags that {@link readCredentials} reads to a command. */
export function addCredentialFlags(command: Command): Command {
  return command
    .option('--token-env <name>', "the variable that holds the API's access token", 'ACCESS_TOKEN')
    .option('--token-file <path>', 'the file that holds the access token; - is stdin')
    .option('--email <address>', 'sign in as this seller, with an API key instead of a token')
    .option('--api-key-env <name>', 'the variable that holds the API key', 'API_KEY');
}

/**
 * Returns the API credentials. They cannot be given on the command line itself, where other users would see them.
 *
 * @throws {UsageError} If they are missing.
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
  throw new UsageError(
    'option_invalid',
    `There is no access token in ${tokenFile}: the file is empty.`,
  );
}

function fromEnvironment(name: string, flags: string, { env }: Host): string {
  const credential = env[name];
  if (credential) return credential;
  throw new UsageError(
    'option_invalid',
    `The credentials for the provider's API are missing: set the environment variable ${name}, or use ${flags}.`,
  );
}
