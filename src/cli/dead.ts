import { type Command, Option } from 'commander';
import type { IdempotencyStore, StoredDelivery } from 'storefront-webhooks';
import { describeError } from '../report/text.js';
import { deliveryLine as deadLine, toRecord, wholeLines } from './dead/lines.js';
import { openStore } from './dead/open-store.js';
import { deliveriesIn, findNow } from './dead/pages.js';
import { toFilter } from './dead/where.js';
import { deliveryLine, failureLines } from './delivery.js';
import type { Host } from './host.js';
import { toCount } from './numbers.js';
import type { Printer } from './printer.js';
import { addSecretFlags, readSecrets, type SecretFlags } from './secrets.js';
import { isTaken, sendOne } from './sending.js';
import type { Session } from './session.js';

const STATES = ['dead', 'stalled', 'failing'] as const;

type State = (typeof STATES)[number];

interface Flags {
  readonly state?: State;
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
export function addDead(program: Command, session: Session): void {
  const { host, printer, end } = session;
  const dead = program
    .command('dead')
    .summary('what a store keeps for a person: list, show, count, redrive')
    .description(
      'Shows deliveries that have not come to their end, in the store of a shop: postgres://…, redis://…, a SQLite file, or the name of an environment variable that has one of these. The driver is the one of the project in this folder.',
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx storefront-webhooks dead list shop.db' +
        '\n  npx storefront-webhooks dead redrive shop.db --where event=order:paid --to http://localhost:3000/webhooks --apply',
    );
  filtered(dead.command('list <store>').summary('list them, without their content')).action(
    (url: string, flags: Flags) => withStore(url, host, (store) => list(store, flags, printer)),
  );
  dead
    .command('show <store> <key>')
    .summary('show one with its content, by its key or the id of its order')
    .action((url: string, key: string) =>
      withStore(url, host, async (store) => end((await show(store, key, printer)) ? 0 : 1)),
    );
  dead
    .command('count <store>')
    .summary('count them by state')
    .option('--scope <name>', 'of one receiver')
    .action((url: string, flags: Pick<Flags, 'scope'>) =>
      withStore(url, host, (store) => count(store, flags, printer)),
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
    withStore(url, host, async (store) => end((await redrive(store, flags, session)) ? 0 : 1)),
  );
}

function filtered(command: Command): Command {
  return command
    .addOption(new Option('--state <name>', 'those in one state alone').choices([...STATES]))
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
  host: Host,
  work: (store: IdempotencyStore) => Promise<void>,
): Promise<void> {
  const { store, close } = await openStore(url, host);
  try {
    // Asked first by itself: what a driver says where it cannot connect does not say of what.
    await store.count({ state: 'dead' }).catch((error) => {
      throw new Error(`The store does not answer: ${describeError(error)}`);
    });
    await work(store);
  } finally {
    await close();
  }
}

async function list(store: IdempotencyStore, flags: Flags, printer: Printer): Promise<void> {
  const fits = toFilter(flags.where);
  const found = new Map<State, number>();
  for await (const delivery of deliveriesOf(store, flags, STATES)) {
    if (!fits(delivery)) continue;
    found.set(delivery.state, (found.get(delivery.state) ?? 0) + 1);
    printer.found(toRecord(delivery), () => deadLine(delivery, printer));
  }
  if (!printer.isForPeople) return;
  if (found.size === 0) printer.note(noneOf(flags, STATES));
  for (const [state, count] of found) printer.note(`${count} ${state}: ${MEANING[state]}`);
}

/** From how many characters on, the beginning of an order or a key names it. */
const MIN_PREFIX = 10;

/** What a person has to know of a state. */
const MEANING: Readonly<Record<State, string>> = {
  dead: 'nothing runs them any more. Mend the cause, then: dead redrive.',
  stalled: 'interrupted or failed, and not sent again since. dead redrive brings them back.',
  failing:
    'tried again by the provider or the queue. At once: dead redrive --state failing --to <url>.',
};

async function show(store: IdempotencyStore, given: string, printer: Printer): Promise<boolean> {
  // As a narrow list shows it: cut, with a sign that it is.
  const wanted = given.replace(/…$/, '');
  const isCut = wanted !== given || wanted.length >= MIN_PREFIX;
  const isWanted = (one: string | undefined) =>
    one === wanted || (isCut && one?.startsWith(wanted) === true);
  for await (const delivery of deliveriesOf(store, {}, STATES)) {
    if (![delivery.key, delivery.orderId, delivery.id].some(isWanted)) continue;
    const body = new TextDecoder().decode(delivery.body);
    printer.found({ ...toRecord(delivery), body }, () => wholeLines(delivery, body, printer));
    return true;
  }
  const isDone = await store.isDone?.(wanted).catch(() => false);
  if (isDone) printer.note('It was handled: of what is done, the store keeps the key alone.');
  else
    printer.note(
      'It is not dead, stalled or failing here: it was handled, it never came, or it was put back within the last minute. reconcile and the log of the provider say which.',
    );
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
  session: Session,
): Promise<boolean> {
  const { printer } = session;
  const fits = toFilter(flags.where);
  const secret = flags.apply && flags.to !== undefined ? readSecrets(flags, session)[0] : '';
  const wanted: StoredDelivery[] = [];
  for await (const delivery of deliveriesOf(store, flags, LEFT)) {
    if (fits(delivery)) wanted.push(delivery);
    printer.progress(`${wanted.length} found …`);
    if (wanted.length === flags.max) break;
  }
  let allGood = true;
  let putBack = 0;
  let taken = 0;
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
      printer.found({ ...toRecord(delivery), action }, () => deadLine(delivery, printer, action));
      continue;
    }
    // What is failing is not put back: whoever sends it has it run.
    const isFailing = delivery.state === 'failing';
    const isBack = isFailing || (await store.redrive(delivery.key));
    if (isBack) putBack += 1;
    if (flags.to === undefined || !isBack) {
      const left = isFailing ? 'left: give --to' : 'put back';
      const action = isBack ? left : 'left: it has changed';
      printer.found({ ...toRecord(delivery), action }, () => deadLine(delivery, printer, action));
      continue;
    }
    const wasTaken = await send(delivery, flags.to, secret, flags, printer);
    taken += wasTaken ? 1 : 0;
    allGood &&= wasTaken;
  }
  printer.progress(undefined);
  if (wanted.length === 0) {
    printer.note(noneOf(flags, LEFT));
    const failing = flags.state ? 0 : await store.count({ state: 'failing', scope: flags.scope });
    if (failing > 0) printer.note(`${failing} failing: ${MEANING.failing}`);
  } else if (!flags.apply) printer.note('Nothing was done: add --apply.');
  else if (flags.to === undefined) {
    printer.note(
      `${putBack} put back: they run when the provider sends them again, or out of the queue. Where neither will, --to has the shop run them now.`,
    );
  } else {
    printer.note(`${putBack} sent, ${taken} taken by the shop.`);
    if (taken < putBack) {
      printer.note('What was not taken is stalled within a minute: then run this again.');
    }
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

/** Nobody tries these again. */
const LEFT = ['dead', 'stalled'] as const;

/** Of the state that is asked for, or of each of these. */
async function* deliveriesOf(
  store: IdempotencyStore,
  { state, scope }: Partial<Flags>,
  states: readonly State[],
): AsyncGenerator<StoredDelivery> {
  for (const one of state ? [state] : states) {
    yield* deliveriesIn(store, { state: one, ...(scope !== undefined && { scope }) });
  }
}

function noneOf({ state, where }: Flags, states: readonly State[]): string {
  const named = state ?? states.join(' or ').replace(/ or (?=.* or )/g, ', ');
  return where.length > 0 ? `None that fits is ${named}.` : `None is ${named}.`;
}
