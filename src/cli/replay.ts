import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { type Fixture, loadFixture, type ReplayOptions } from 'storefront-webhooks/testing';
import { seeded } from '../sandbox/random.js';
import type { Host } from './host.js';
import { toNumber } from './numbers.js';
import { addSecretFlags, readSecrets, type SecretFlags } from './secrets.js';
import {
  addSendingFlags,
  isTaken,
  type Sending,
  type SendingFlags,
  sendAll,
  sendingArgs,
  toReplayOptions,
} from './send-options.js';
import type { Session } from './session.js';
import { quote } from './shell.js';
import { readSource } from './source.js';

interface Flags extends SendingFlags, SecretFlags {
  readonly shuffle?: number;
}

/** Adds `replay`, which sends saved deliveries and compares each answer with the expected one. */
export function addReplay(program: Command, session: Session): void {
  const command = program
    .command('replay <what> <url>')
    .summary('send saved deliveries, and compare the answers')
    .description(
      'Sends saved deliveries in their order: a .hook.json file, a folder of them, or a fixture. Compares each answer with the one that the file expects, or with a 2xx if the file expects nothing.',
    )
    .option('--shuffle <seed>', 'send in another order, always the same for a seed', toNumber);
  addSecretFlags(addSendingFlags(command))
    .addHelpText(
      'after',
      '\nExample:\n  npx storefront-webhooks replay test/webhooks http://localhost:3000/webhooks --shuffle 7',
    )
    .action(async (what: string, url: string, flags: Flags) =>
      session.end((await run(what, url, flags, session)) ? 0 : 1),
    );
}

async function run(what: string, url: string, flags: Flags, session: Session): Promise<boolean> {
  const fixtures = readAll(what, session.host);
  const [secret] = fixtures.some(({ signing }) => signing !== 'keep' && signing !== 'omit')
    ? readSecrets(flags, session)
    : ['none'];
  const options: ReplayOptions = { secret, ...toReplayOptions(flags) };
  const areAtOnce = flags.duplicate > 1 && flags.concurrency > 1;
  const sendings = fixtures.flatMap((fixture) =>
    Array<Sending>(flags.duplicate).fill({
      fixture,
      options,
      isGood: ({ status, outcome, attempt, asExpected = isTaken(status) }) =>
        asExpected ||
        // Of copies that are sent at once, a later one may arrive first.
        ((attempt > 1 || areAtOnce) && isAnswerToCopy(fixture, outcome)),
      isForged: fixture.signing === 'omit' || fixture.signing === 'corrupt',
      repeat: [
        'npx storefront-webhooks replay',
        quote(relative(process.cwd(), fixture.file)),
        quote(url),
        ...sendingArgs(flags),
      ].join(' '),
    }),
  );
  const ordered = flags.shuffle === undefined ? sendings : shuffle(sendings, flags.shuffle);
  return sendAll(url, ordered, flags.concurrency, session.printer);
}

/** Whether a receiver may answer so if another copy of the delivery is handled, or was. */
function isAnswerToCopy({ expect }: Fixture, outcome: string): boolean {
  return expect?.outcome === 'handled' && (outcome === 'duplicate' || outcome === 'busy');
}

function readAll(what: string, host: Host): Fixture[] {
  if (!existsSync(what) || !statSync(what).isDirectory()) return [readSource(what, host)];
  const files = readdirSync(what, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.hook.json'))
    // 10000-… comes after 9999-…
    .sort(new Intl.Collator('en', { numeric: true }).compare);
  if (files.length > 0) return files.map((file) => loadFixture(join(what, file)));
  throw new UsageError('fixture_invalid', `There is no .hook.json file in ${what}.`);
}

function shuffle<Item>(items: readonly Item[], seed: number): Item[] {
  const random = seeded(seed);
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
