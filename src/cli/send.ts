import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import type { Fixture, ReplayOptions } from 'storefront-webhooks/testing';
import { change } from './changes.js';
import { isHeaderValue } from './dead/send.js';
import {
  addSecretFlags,
  collect,
  readSecrets,
  type SecretFlags,
  withoutSecrets,
} from './secrets.js';
import {
  addSendingFlags,
  isTaken,
  type SendingFlags,
  type SentAnswer,
  sendAll,
  toReplayOptions,
} from './send-options.js';
import type { Session } from './session.js';
import { quote } from './shell.js';
import { readSource } from './source.js';

interface Flags extends SendingFlags, SecretFlags {
  readonly set: readonly string[];
  readonly patch?: string;
  readonly add: boolean;
  readonly event?: string;
  readonly id?: string;
  readonly forgeEvent?: string;
  readonly corrupt: boolean;
  readonly unsigned: boolean;
}

/** The answers that reject a delivery. Other statuses, such as 404, come from a server that has not looked at it. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403]);

/** Adds `send`, which sends a signed delivery to a URL. */
export function addSend(program: Command, session: Session): void {
  const command = program
    .command('send <what> <url>')
    .summary('send a signed delivery to a URL')
    .description(
      'Sends a delivery as the provider would. <what> is an event, a fixture such as order:paid/crypto, a .hook.json file, any file with a body, or - for stdin.',
    )
    .option('--set <path=value>', 'change a field of the body, such as status=51', collect, [])
    .option('--patch <json>', 'change the body with a JSON merge patch')
    .option('--add', 'let --set add a field that the body does not have', false)
    .option('--event <name>', 'the event, if the body does not name it')
    .option('--id <id>', 'the id of the delivery; fresh generates one')
    .option('--forge-event <name>', 'name another event in the header, which is not signed')
    .option('--corrupt', 'change one bit of the body after signing it', false)
    .option('--unsigned', 'send no signature', false);
  addSecretFlags(addSendingFlags(command))
    .addHelpText(
      'after',
      '\nThe receiver has to reject a corrupt or unsigned delivery with 400, 401 or 403: if it does not, the command exits with 1.' +
        '\n\nExample:\n  npx storefront-webhooks send order:updated http://localhost:3000/webhooks --set status=51',
    )
    .action(async (what: string, url: string, flags: Flags) =>
      session.end((await run(what, url, flags, session)) ? 0 : 1),
    );
}

async function run(what: string, url: string, flags: Flags, session: Session): Promise<boolean> {
  const { host, printer } = session;
  const { set, patch, add, event, forgeEvent, corrupt, unsigned, duplicate } = flags;
  for (const [flag, value = ''] of [
    ['--id', flags.id],
    ['--event', event],
    ['--forge-event', forgeEvent],
  ] as const) {
    if (isHeaderValue(value)) continue;
    throw new UsageError(
      'option_invalid',
      `${flag} ${JSON.stringify(value)} cannot be sent: an HTTP header cannot hold it. Leave out line breaks and other control characters, and use ASCII characters.`,
    );
  }
  const saved = readSource(what, host, event);
  const { body, told } = change(saved.body, { set, patch, add });
  for (const line of told) printer.note(line);
  const isChanged = body !== saved.body;
  const fixture: Fixture = {
    ...saved,
    body,
    signing: unsigned ? 'omit' : isChanged ? 'resign' : saved.signing,
  };
  const [secret] = unsigned ? [''] : readSecrets(flags, session);
  const options: ReplayOptions = {
    // An unsigned delivery needs no secret, but replay() does.
    secret: secret || 'none',
    corrupt,
    ...toReplayOptions(flags),
    ...idOption(flags.id),
    ...(forgeEvent === undefined ? {} : { event: forgeEvent }),
  };
  const isHostile = corrupt || fixture.signing === 'omit' || fixture.signing === 'corrupt';
  const isGood = ({ status }: SentAnswer) => {
    const isRefused = REFUSALS.has(status);
    // The receiver may accept a forged event if the body is valid for it, too.
    return isHostile
      ? isRefused
      : isTaken(status) || (forgeEvent !== undefined && (isRefused || status === 422));
  };
  const repeat = `npx storefront-webhooks ${withoutSecrets(host.args).map(quote).join(' ')}`;
  const sending = { fixture, options, isGood, repeat, isForged: isHostile, isChanged };
  return sendAll(url, Array(duplicate).fill(sending), flags.concurrency, printer);
}

/** Chooses the id once, so that every duplicate has the same one. */
function idOption(id: string | undefined): { id?: string } {
  if (id === undefined) return {};
  return { id: id === 'fresh' ? `whl_${crypto.randomUUID()}` : id };
}
