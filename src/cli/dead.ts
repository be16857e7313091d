import { type Command, Option } from 'commander';
import type { CountFilter, IdempotencyStore, StoredDelivery } from 'storefront-webhooks';
import { UsageError } from 'storefront-webhooks';
import { toLine } from './columns.js';
import { openStore } from './dead/open-store.js';
import { deliveriesIn, findNow } from './dead/pages.js';
import { toFilter } from './dead/where.js';
import { deliveryLine, failureLines } from './delivery.js';
import type { ExitCode } from './failure.js';
import { toCount } from './numbers.js';
import type { Printer } from './printer.js';
import { addSecretFlags, readSecrets, type SecretFlags } from './secrets.js';
import { isTaken, sendOne } from './sending.js';

const STATES = ['dead', 'stalled', 'failing'] as const;

interface Flags {
  readonly state: CountFilter['state'];
  readonly scope?: string;
  readonly where: readonly string[];
}

interface RedriveFlags extends Flags, SecretFlags {
  readonly apply: boolean;
  readonly to?: string;
  readonly headerPrefix?: string;
  readonly max: number;
}

/** `dead`: what a store keeps for a person. */
export function addDead(program: Command, printer: Printer, end: (code: ExitCode) => void): void {
  const dead = program
    .command('dead')
    .summary('what a store keeps for a person: list, show, count, redrive')
    .description(
      'Shows deliveries that have not come to their end, in the store of a shop: postgres://…, redis://… or a SQLite file. The driver is the one of the project in this folder.',
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx storefront-webhooks dead list shop.db' +
        '\n  npx storefront-webhooks dead redrive shop.db --where event=order:paid --to http://localhost:3000/webhooks --apply',
    );
  filtered(dead.command('list <store>').summary('list them, without their content')).action(
    (url: string, flags: Flags) => withStore(url, (store) => list(store, flags, printer)),
  );
  dead
    .command('show <store> <key>')
    .summary('show one with its content, by its key or the id of its order')
    .action((url: string, key: string) =>
      withStore(url, async (store) => end((await show(store, key, printer)) ? 0 : 1)),
    );
  dead
    .command('count <store>')
    .summary('count them by state')
    .option('--scope <name>', 'of one receiver')
    .action((url: string, flags: Pick<Flags, 'scope'>) =>
      withStore(url, (store) => count(store, flags, printer)),
    );
  const redriving = filtered(
    dead
      .command('redrive <store>')
      .summary('put them back, to be run by the shop: nothing is done without --apply')
      .option('--apply', 'do it, and do not only say what would be done', false)
      .option(
        '--to <url>',
        'send each to the receiver of the shop, signed anew, so that it runs now',
      )
      .option('--header-prefix <text>', 'what its headers begin with (default: X-Service-)')
      .option('--max <number>', 'the most that are put back', toCount, 1_000),
  );
  addSecretFlags(redriving).action((url: string, flags: RedriveFlags) =>
    withStore(url, async (store) => end((await redrive(store, flags, printer)) ? 0 : 1)),
  );
}

function filtered(command: Command): Command {
  return command
    .addOption(new Option('--state <name>', 'which of them').choices([...STATES]).default('dead'))
    .option('--scope <name>', 'of one receiver')
    .option(
      '--where <condition>',
      'field=value or field~text, such as event=order:paid or error~timeout; all have to fit',
      (one: string, before: readonly string[]) => [...before, one],
      [],
    );
}

async function withStore(
  url: string,
  work: (store: IdempotencyStore) => Promise<void>,
): Promise<void> {
  const { store, close } = await openStore(url);
  try {
    await work(store);
  } finally {
    await close();
  }
}

async function list(store: IdempotencyStore, flags: Flags, printer: Printer): Promise<void> {
  const fits = toFilter(flags.where);
  let found = 0;
  for await (const delivery of deliveriesIn(store, toScope(flags))) {
    if (!fits(delivery)) continue;
    found += 1;
    printer.found(toRecord(delivery), () => line(delivery, printer));
  }
  if (printer.isForPeople)
    printer.note(found === 0 ? `None is ${flags.state}.` : `${found} in all.`);
}

async function show(store: IdempotencyStore, wanted: string, printer: Printer): Promise<boolean> {
  for (const state of STATES) {
    for await (const delivery of deliveriesIn(store, { state })) {
      if (![delivery.key, delivery.orderId, delivery.id].includes(wanted)) continue;
      const body = new TextDecoder().decode(delivery.body);
      printer.found({ ...toRecord(delivery), body }, () => [line(delivery, printer), body]);
      return true;
    }
  }
  printer.note('The store has no such delivery: dead list shows those that it has.');
  return false;
}

async function count(
  store: IdempotencyStore,
  { scope }: Pick<Flags, 'scope'>,
  printer: Printer,
): Promise<void> {
  const counts = await Promise.all(
    STATES.map(async (state) => [state, await store.count({ state, scope })] as const),
  );
  printer.found(Object.fromEntries(counts), () =>
    counts.map(([state, number]) => `${state.padEnd(8)} ${number}`),
  );
}

/** Gives whether all that should be put back were. */
async function redrive(
  store: IdempotencyStore,
  flags: RedriveFlags,
  printer: Printer,
): Promise<boolean> {
  if (flags.state === 'failing') {
    throw new UsageError('option_invalid', 'What is failing is tried again as it is.');
  }
  const fits = toFilter(flags.where);
  const secret = flags.apply && flags.to !== undefined ? readSecrets(flags, printer)[0] : '';
  const wanted: StoredDelivery[] = [];
  for await (const delivery of deliveriesIn(store, toScope(flags))) {
    if (fits(delivery)) wanted.push(delivery);
    printer.progress(`${wanted.length} found …`);
    if (wanted.length === flags.max) break;
  }
  let allGood = true;
  for (const [index, listed] of wanted.entries()) {
    printer.progress(`${index} of ${wanted.length} done …`);
    // Somebody else may have done it since it was listed.
    const delivery = await findNow(store, listed);
    if (!delivery) continue;
    // Whether it is genuine, a person has to say, by receiver.redrive(delivery, { vouched: true }).
    const isUnproven = delivery.proof?.startsWith('!') === true;
    if (!flags.apply || isUnproven) {
      allGood &&= !isUnproven;
      const action = isUnproven ? 'not proven: left' : 'would be put back';
      printer.found({ ...toRecord(delivery), action }, () => line(delivery, printer, action));
      continue;
    }
    const putBack = await store.redrive(delivery.key);
    if (flags.to === undefined || !putBack) {
      const action = putBack ? 'put back' : 'left: it has changed';
      printer.found({ ...toRecord(delivery), action }, () => line(delivery, printer, action));
      continue;
    }
    allGood = (await send(delivery, flags.to, secret, flags, printer)) && allGood;
  }
  printer.progress(undefined);
  if (wanted.length === 0) printer.note(`None is ${flags.state}.`);
  else if (!flags.apply) printer.note('Nothing was done: add --apply.');
  else if (flags.to === undefined) {
    printer.note('They run when they are sent again, or out of the queue. With --to they run now.');
  }
  return allGood;
}

/** Has the shop's own process run a delivery, under the key that it has. */
async function send(
  { body, event, id, key }: StoredDelivery,
  to: string,
  secret: string,
  { headerPrefix }: RedriveFlags,
  printer: Printer,
): Promise<boolean> {
  const fixture = {
    file: key,
    event,
    description: '',
    method: 'POST',
    headers: [
      ['Content-Type', 'application/json'],
      ['X-Service-Event', event],
      ['X-Service-Webhook', id],
    ] as const,
    body,
    signing: 'resign' as const,
    redacted: [],
    expect: undefined,
  };
  const options = { secret, ...(headerPrefix === undefined ? {} : { headerPrefix }) };
  const repeat = `npx storefront-webhooks dead show <store> ${key}`;
  const report = await sendOne(to, { fixture, options, isGood: isTaken, repeat }, 1);
  printer.found({ key, ...report }, () => [
    deliveryLine(report, printer),
    ...failureLines(report, printer),
  ]);
  return report.good;
}

function toScope({ state, scope }: Flags): Pick<CountFilter, 'state' | 'scope'> {
  return scope === undefined ? { state } : { state, scope };
}

/** What is told of a delivery: nothing of what it holds but its order. */
function toRecord({ body: _, proof: __, email: ___, ...told }: StoredDelivery): object {
  return told;
}

function line(delivery: StoredDelivery, { columns, paint }: Printer, action = ''): string {
  const { event, key, orderId = '', attempts, receivedAt, interrupted } = delivery;
  const error = delivery.error ?? (interrupted ? 'interrupted' : '');
  return toLine(
    [
      { text: action, width: action.length, rank: 9, paint: paint.bold },
      { text: receivedAt.toISOString().slice(0, 16).replace('T', ' '), width: 16, rank: 2 },
      { text: event, width: 20, rank: 6 },
      { text: orderId, width: 16, rank: 7 },
      { text: `${attempts}×`, width: 4, rank: 3, paint: paint.dim },
      { text: key.slice(0, 12), width: 12, rank: 4, paint: paint.dim },
      { text: error, width: action === '' ? 40 : 20, rank: 5, paint: paint.red },
    ].filter(({ width }) => width > 0),
    columns,
  );
}
