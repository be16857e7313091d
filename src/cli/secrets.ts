import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import type { Host } from './host.js';
import type { Session } from './session.js';
import { quote } from './shell.js';
import { readBytes } from './source.js';

/** The flags that name the secrets of a command. */
export interface SecretFlags {
  readonly secret?: readonly string[];
  readonly secretEnv?: readonly string[];
  readonly secretFile?: readonly string[];
}

const FROM = 'WEBHOOK_SECRET';

/** Adds the flags that {@link readSecrets} reads to a command. */
export function addSecretFlags(command: Command): Command {
  return command
    .option('--secret-env <name>', `the variable that holds the secret (default: ${FROM})`, collect)
    .option('--secret-file <path>', 'the file that holds the secret; - is stdin', collect)
    .option(
      '--secret <text>',
      'the secret itself; other users of this machine can see it',
      collect,
    );
}

/** Parses a flag that may be given several times. */
export function collect(one: string, before: readonly string[] = []): readonly string[] {
  return [...before, one];
}

/** The flags with which a printed command reads the same secrets. A secret from the command line is left out. */
export function secretArgs({ secretEnv = [], secretFile = [] }: SecretFlags): string[] {
  return [
    ...secretEnv.flatMap((name) => ['--secret-env', quote(name)]),
    ...secretFile.flatMap((path) => ['--secret-file', quote(path)]),
  ];
}

/** The arguments of a command, without the secrets that stand among them. */
export function withoutSecrets(args: readonly string[]): string[] {
  return args.filter((one, at) => !/^--secret(=|$)/.test(one) && args[at - 1] !== '--secret');
}

/** A secret, and the name that messages use for it, such as its variable. */
export interface NamedSecret {
  readonly name: string;
  readonly secret: string;
}

/**
 * Returns the given secrets. A file's byte order mark and line end are removed, and nothing else is changed.
 *
 * @throws {UsageError} If there is no secret.
 */
export function readSecrets(flags: SecretFlags, session: Session): [string, ...string[]] {
  const [first, ...others] = readNamedSecrets(flags, session);
  return [first.secret, ...others.map(({ secret }) => secret)];
}

/** {@link readSecrets}, with the names of the secrets. */
export function readNamedSecrets(
  flags: SecretFlags,
  { host, printer }: Session,
): [NamedSecret, ...NamedSecret[]] {
  const { secret = [], secretFile = [] } = flags;
  const isNamed = [secret, secretFile, flags.secretEnv ?? []].some(({ length }) => length > 0);
  if (secret.length > 0) {
    printer.note(
      'The secret is on the command line, where other users of this machine can see it: use --secret-env or --secret-file.',
    );
  }
  const found = [
    ...secret.map((one, at) => ({
      name: secret.length > 1 ? `--secret ${at + 1}` : '--secret',
      secret: one,
    })),
    ...(flags.secretEnv ?? (isNamed ? [] : [FROM])).map((name) => ({
      name,
      secret: fromEnvironment(name, host),
    })),
    ...secretFile.map((name) => ({ name, secret: readSecretFile(name, host) })),
  ];
  const [first, ...others] = found.filter((one) => one.secret !== '');
  if (first !== undefined) return [first, ...others];
  throw new UsageError(
    'secret_invalid',
    'The secret is empty: set it in the variable or file that it is read from.',
  );
}

/** {@link readSecrets}, but returns an empty list if no flag is given and `WEBHOOK_SECRET` is not set. */
export function readSecretsIfAny(flags: SecretFlags, session: Session): readonly string[] {
  const isNamed = [flags.secret, flags.secretFile, flags.secretEnv].some((named) => named?.length);
  return isNamed || session.host.env[FROM] ? readSecrets(flags, session) : [];
}

function fromEnvironment(name: string, { env }: Host): string {
  const secret = env[name];
  if (secret !== undefined) return secret;
  throw new UsageError(
    'secret_invalid',
    `The secret is missing: set the environment variable ${name}, or use --secret-env or --secret-file.`,
  );
}

/** Reads a secret from a file, without what editors add: a byte order mark and a line end. `-` is stdin. */
export function readSecretFile(path: string, host: Host): string {
  return Buffer.from(readBytes(path, host))
    .toString()
    .replace(/^\u{feff}|\r?\n$/gu, '');
}
