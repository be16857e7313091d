import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import type { Host } from './host.js';
import type { Session } from './session.js';
import { readBytes } from './source.js';

/** Where a command takes secrets from. */
export interface SecretFlags {
  readonly secret?: readonly string[];
  readonly secretEnv?: readonly string[];
  readonly secretFile?: readonly string[];
}

const FROM = 'WEBHOOK_SECRET';

/** Gives a command the flags that {@link readSecrets} reads. */
export function addSecretFlags(command: Command): Command {
  const collect = (one: string, before: readonly string[] = []) => [...before, one];
  return command
    .option('--secret-env <name>', `the secret is in this variable (default: ${FROM})`, collect)
    .option('--secret-file <path>', 'the secret is in this file; - is stdin', collect)
    .option('--secret <text>', 'the secret itself, which others on this machine see', collect);
}

/** A secret, and what a person knows it by: such as the variable that it is in. */
export interface NamedSecret {
  readonly name: string;
  readonly secret: string;
}

/**
 * The secrets at hand, each as it stands but for the line end of a file.
 *
 * @throws {UsageError} Where there is none.
 */
export function readSecrets(flags: SecretFlags, session: Session): [string, ...string[]] {
  const [first, ...others] = readNamedSecrets(flags, session);
  return [first.secret, ...others.map(({ secret }) => secret)];
}

/** {@link readSecrets}, with their names. */
export function readNamedSecrets(
  flags: SecretFlags,
  { host, printer }: Session,
): [NamedSecret, ...NamedSecret[]] {
  const { secret = [], secretFile = [] } = flags;
  const isNamed = [secret, secretFile, flags.secretEnv ?? []].some(({ length }) => length > 0);
  if (secret.length > 0) {
    printer.note(
      'The secret stands on the command line, where other users of this machine see it: use --secret-env or --secret-file.',
    );
  }
  const found = [
    ...secret.map((one) => ({ name: '--secret', secret: one })),
    ...(flags.secretEnv ?? (isNamed ? [] : [FROM])).map((name) => ({
      name,
      secret: fromEnvironment(name, host),
    })),
    ...secretFile.map((name) => ({ name, secret: readSecretFile(name, host) })),
  ];
  const [first, ...others] = found.filter((one) => one.secret !== '');
  if (first !== undefined) return [first, ...others];
  throw new UsageError('secret_invalid', 'The secret is empty: fill in where it is read from.');
}

/** {@link readSecrets} where there may be none: those that are named, or in the usual variable. */
export function readSecretsIfAny(flags: SecretFlags, session: Session): readonly string[] {
  const isNamed = [flags.secret, flags.secretFile, flags.secretEnv].some((named) => named?.length);
  return isNamed || session.host.env[FROM] ? readSecrets(flags, session) : [];
}

function fromEnvironment(name: string, { env }: Host): string {
  const secret = env[name];
  if (secret !== undefined) return secret;
  throw new UsageError(
    'secret_invalid',
    `There is no secret: set the environment variable ${name}, or name where it is with --secret-env or --secret-file.`,
  );
}

/** A secret in a file, but for the line end; `-` is stdin. */
export function readSecretFile(path: string, host: Host): string {
  return Buffer.from(readBytes(path, host))
    .toString()
    .replace(/\r?\n$/, '');
}
