import type { Command } from 'commander';
import type { Fixture, ReplayOptions } from 'storefront-webhooks/testing';
import { change } from './changes.js';
import { addSecretFlags, readSecrets, type SecretFlags } from './secrets.js';
import {
  addSendingFlags,
  isTaken,
  type SendingFlags,
  sendAll,
  toReplayOptions,
} from './sending.js';
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

/** `send`: a signed delivery to a URL. */
export function addSend(program: Command, session: Session): void {
  const command = program
    .command('send <what> <url>')
    .summary('send a signed delivery to a URL')
    .description(
      'Sends a delivery as the provider would. <what> is an event, a fixture such as order:paid/crypto, a .hook.json file, any file with a body, or - for stdin.',
    )
    .option('--set <path=value>', 'change the body, such as status=51', collect, [])
    .option('--patch <json>', 'change the body by a JSON merge patch')
    .option('--add', 'let --set add what is not there', false)
    .option('--event <name>', 'the event of a body that does not say it')
    .option('--id <id>', 'the id of the delivery; fresh makes one up')
    .option('--forge-event <name>', 'name another event in the header, which is not signed')
    .option('--corrupt', 'change one bit of the body after it was signed', false)
    .option('--unsigned', 'leave the signature out', false);
  addSecretFlags(addSendingFlags(command))
    .addHelpText(
      'after',
      '\nWhat is corrupt or unsigned is to be refused: a 2xx to it ends this command with 1.' +
        '\n\nExample:\n  npx storefront-webhooks send order:paid http://localhost:3000/webhooks --set status=51',
    )
    .action(async (what: string, url: string, flags: Flags) =>
      session.end((await run(what, url, flags, session)) ? 0 : 1),
    );
}

async function run(what: string, url: string, flags: Flags, session: Session): Promise<boolean> {
  const { host, printer } = session;
  const { set, patch, add, event, forgeEvent, corrupt, unsigned, duplicate } = flags;
  const saved = readSource(what, host, event);
  const { body, told } = change(saved.body, { set, patch, add });
  for (const line of told) printer.note(line);
  const fixture: Fixture = {
    ...saved,
    body,
    signing: unsigned ? 'omit' : body === saved.body ? saved.signing : 'resign',
  };
  const [secret] = unsigned ? [''] : readSecrets(flags, session);
  const options: ReplayOptions = {
    // With nothing to be signed, any will do.
    secret: secret || 'none',
    corrupt,
    ...toReplayOptions(flags),
    ...idOption(flags.id),
    ...(forgeEvent === undefined ? {} : { event: forgeEvent }),
  };
  const isHostile = corrupt || fixture.signing === 'omit' || fixture.signing === 'corrupt';
  const isGood = (status: number) => {
    const isRefused = status >= 400 && status < 500;
    // A forged event may be one that the body could have.
    return isHostile ? isRefused : isTaken(status) || (forgeEvent !== undefined && isRefused);
  };
  const repeat = `npx storefront-webhooks ${host.args.map(quote).join(' ')}`;
  const sending = { fixture, options, isGood, repeat };
  return sendAll(url, Array(duplicate).fill(sending), flags.concurrency, printer);
}

/** Each sending of one delivery has the same id. */
function idOption(id: string | undefined): { id?: string } {
  if (id === undefined) return {};
  return { id: id === 'fresh' ? `whl_${crypto.randomUUID()}` : id };
}

function collect(one: string, before: readonly string[]): readonly string[] {
  return [...before, one];
}
