import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { loadFixture } from 'storefront-webhooks/testing';
import { diagnose } from './doctor/diagnose.js';
import { changeFor, FRAMEWORKS, type Framework, findFramework } from './doctor/frameworks.js';
import { compareHops } from './doctor/hop.js';
import type { Keys } from './doctor/keys.js';
import { toLines } from './doctor/lines.js';
import { listenOnce, signatureOf } from './doctor/listen.js';
import type { Received } from './doctor/messages.js';
import type { Host } from './host.js';
import { toPort, toTimeout } from './numbers.js';
import { addSecretFlags, collect, readNamedSecrets, type SecretFlags } from './secrets.js';
import type { Session } from './session.js';
import { readBytes } from './source.js';

interface Flags extends SecretFlags {
  readonly apiKeyEnv: readonly string[];
  readonly framework?: Framework;
  readonly compare?: string;
  readonly listen?: number | true;
  readonly timeout: number;
}

/** Adds `doctor`, which finds the transformation of a body that has exactly the given signature. */
export function addDoctor(program: Command, session: Session): void {
  const command = program
    .command('doctor [file] [signature]')
    .summary('explain why a signature does not match a body')
    .description(
      'Explains why a signature does not match a body: finds the change of the body, of the secret or of the way of signing that has exactly this signature. [file] is the body as it was received, - for stdin, or a .hook.json recording, which may hold the signature. Works offline.',
    )
    .option(
      '--api-key-env <name>',
      'a variable with an API key that may have been taken for the secret',
      collect,
      [],
    )
    .addOption(
      new Option(
        '--framework <name>',
        'the framework that the advice is for (default: from package.json)',
      ).choices(FRAMEWORKS),
    )
    .option(
      '--compare <file>',
      'another recording, nearer to the provider: finds the hop that changed the body',
    )
    .option('--listen [port]', 'receive one delivery over HTTP on this machine', toPort)
    .option('--timeout <ms>', 'how long --listen waits', toTimeout, 300_000);
  addSecretFlags(command)
    .addHelpText(
      'after',
      '\nThe first secret is the one of your receiver; doctor tries further ones in its place. The command exits with 0 if the signature matches, and with 1 if not. The output shows bytes of the body.' +
        '\n\nExamples:\n  npx storefront-webhooks doctor body.json 3a7b… --secret-env WEBHOOK_SECRET' +
        '\n  npx storefront-webhooks doctor app.hook.json --compare edge.hook.json' +
        '\n  npx storefront-webhooks doctor --listen 4000',
    )
    .action(async (file: string | undefined, signature: string | undefined, flags: Flags) =>
      session.end((await run(file, signature, flags, session)) ? 0 : 1),
    );
}

async function run(
  file: string | undefined,
  signature: string | undefined,
  flags: Flags,
  session: Session,
): Promise<boolean> {
  const { host, printer } = session;
  const isListening = flags.listen !== undefined;
  if (isListening ? file !== undefined : file === undefined)
    throw wrong('Give a file with the body and its signature, or --listen without them');
  const keys = readKeys(flags, session);
  const received = isListening
    ? await listen(flags.listen === true ? 0 : (flags.listen ?? 0), flags.timeout, session)
    : readReceived(file ?? '', signature, host);
  if (received === undefined) return false;
  const diagnosis = diagnose(received, keys);
  const hop =
    flags.compare === undefined
      ? undefined
      : compareHops(
          received,
          readReceived(flags.compare, undefined, host, received.signature),
          keys,
        );
  const framework = flags.framework ?? findFramework(process.cwd());
  const steps =
    hop?.changed === 'between' ? hop.steps : 'steps' in diagnosis ? diagnosis.steps : [];
  const change = steps.length === 0 ? undefined : changeFor(steps, framework);
  const bytes = received.body.length;
  if (hop?.difference ?? ('difference' in diagnosis && diagnosis.difference))
    printer.note(
      'This output shows bytes of the body, which may be customer data: do not share it.',
    );
  const { sent: _, ...told } = { sent: undefined, ...diagnosis };
  printer.found({ ...told, bytes, framework, ...(change && { change }), ...(hop && { hop }) }, () =>
    toLines({ diagnosis, change, hop, bytes }, printer),
  );
  return diagnosis.result === 'genuine' && (hop === undefined || hop.changed === 'nowhere');
}

function readKeys(flags: Flags, session: Session): Keys {
  const apiKeys = flags.apiKeyEnv.map((name) => {
    const secret = session.host.env[name];
    if (!secret) throw wrong(`The environment variable ${name} holds no API key`);
    return { name, secret };
  });
  return { secrets: readNamedSecrets(flags, session), apiKeys };
}

/**
 * @param signature - Takes precedence over the signature of a recording.
 * @param fallback - The signature if there is no other.
 */
function readReceived(
  file: string,
  signature: string | undefined,
  host: Host,
  fallback?: string,
): Received {
  if (file !== '-' && !existsSync(file)) throw wrong(`There is no file ${file}`);
  if (!file.endsWith('.hook.json')) {
    const given = signature ?? fallback;
    if (given === undefined)
      throw wrong(`Give the signature of ${file} as well: the value of the signature header`);
    return { body: readBytes(file, host), signature: given };
  }
  const { body, headers } = loadFixture(file);
  const recorded = signature ?? signatureOf(headers);
  const given = recorded || fallback;
  if (!given) throw wrong(`${file} holds no signature header: give the signature after the file`);
  return { body, signature: given, headers };
}

async function listen(
  port: number,
  timeoutMs: number,
  { host, printer }: Session,
): Promise<Received | undefined> {
  const { url, received, close } = await listenOnce(port, timeoutMs);
  void host.interrupted().then(close);
  printer.note(
    `Send one delivery to ${url}. The answer is 503, so that the provider sends it again.`,
  );
  const one = await received;
  if (one === undefined) printer.note('No delivery arrived.');
  return one;
}

function wrong(message: string): UsageError {
  return new UsageError('option_invalid', `${message}.`);
}
