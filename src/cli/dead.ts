import { type Command, Option } from 'commander';
import type { IdempotencyStore, StoredDelivery } from 'storefront-webhooks';
import { describeError } from '../errors/text.js';
import { COUNT_LIMIT } from '../stores/store.js';
import { deliveryLine, toRecord, wholeLines } from './dead/lines.js';
import { type OpenStore, openStore } from './dead/open-store.js';
import { deliveriesIn, find } from './dead/pages.js';
import { type RedriveFlags, redrive } from './dead/redrive.js';
import {
  type Flags,
  MEANING,
  mayBeDone,
  noneOf,
  STATES,
  type State,
  toShown,
} from './dead/states.js';
import { toFilter } from './dead/where.js';
import { toCount, toTimeout } from './numbers.js';
import type { Printer } from './printer.js';
import { addSecretFlags } from './secrets.js';
import type { Session } from './session.js';
import { quote } from './shell.js';

/** Adds `dead`, which shows and redrives the deliveries in a store that need an operator. */
export function addDead(program: Command, session: Session): void {
  const { printer, end } = session;
  const dead = program
    .command('dead')
    .summary('list, show, count and redrive deliveries that need an operator')
    .description(
      'Shows the unfinished deliveries in the store of a shop. <store> is postgres://…, redis://…, a SQLite file, or the name of an environment variable that holds one of these. The driver is loaded from the project in this folder.',
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx storefront-webhooks dead list shop.db' +
        '\n  npx storefront-webhooks dead redrive shop.db --where event=order:paid --where interrupted=false --to http://localhost:3000/webhooks --apply' +
        '\n\nIf the receiver has a headerPrefix or a scope, --to needs it, too: --header-prefix X-Brand-, --scope games',
    );
  filtered(dead.command('list <store>').summary('list deliveries without their content')).action(
    (url: string, flags: Flags) => withStore(url, session, (store) => list(store, flags, printer)),
  );
  dead
    .command('show <store> <key>')
    .summary('show a delivery with its content, by its key or the id of its order')
    .action((url: string, key: string) =>
      withStore(url, session, async (store, isUsed) =>
        end((await show(store, key, printer, isUsed)) ? 0 : 1),
      ),
    );
  dead
    .command('count <store>')
    .summary('count deliveries by state')
    .option('--scope <name>', 'only deliveries of the receiver with this scope')
    .action((url: string, flags: Pick<Flags, 'scope'>) =>
      withStore(url, session, (store) => count(store, flags, printer)),
    );
  const redriving = filtered(
    dead
      .command('redrive <store>')
      .summary('put deliveries back for the shop to run; does nothing without --apply')
      .option('--apply', 'put them back; without this, only list what would be put back', false)
      .option(
        '--to <url>',
        'sign each again and send it to the receiver of the shop, so that it runs now',
      )
      .option('--header-prefix <text>', 'the prefix of the webhook headers (default: X-Service-)')
      .option('--timeout <ms>', 'how long to wait for an answer of the shop', toTimeout, 60_000)
      .option('--plain-http', 'allow plain HTTP to another machine', false)
      .option('--max <number>', 'how many to put back at most', toCount, 1_000),
  );
  addSecretFlags(redriving).action((url: string, flags: RedriveFlags) =>
    withStore(url, session, async (store) => end((await redrive(store, flags, session)) ? 0 : 1)),
  );
}

function filtered(command: Command): Command {
  return command
    .addOption(new Option('--state <name>', 'only deliveries in this state').choices([...STATES]))
    .option('--scope <name>', 'only deliveries of the receiver with this scope')
    .option(
      '--where <condition>',
      'field=value or field~text, such as event=order:paid or error~timeout; all conditions have to match',
      (one: string, before: readonly string[]) => [...before, one],
      [],
    );
}

async function withStore(
  url: string,
  { host, printer }: Session,
  work: (store: IdempotencyStore, isUsed: OpenStore['isUsed']) => Promise<void>,
): Promise<void> {
  const { store, isUsed, unused, close } = await openStore(url, host);
  try {
    // A first query by itself: if a driver cannot connect, its error does not name the store.
    await store.count({ state: 'dead' }).catch((error) => {
      throw new Error(`The store does not answer: ${describeError(error)}`);
    });
    if (unused !== undefined && (await isUsed()) === false) printer.note(unused);
    await work(store, isUsed);
  } finally {
    await close();
  }
}

async function list(store: IdempotencyStore, flags: Flags, printer: Printer): Promise<void> {
  const fits = toFilter(flags.where);
  const found = new Map<State, number>();
  let interrupted = 0;
  for await (const delivery of deliveriesIn(
    store,
    flags.state ? [flags.state] : STATES,
    flags.scope,
  )) {
    if (!fits(delivery)) continue;
    found.set(delivery.state, (found.get(delivery.state) ?? 0) + 1);
    interrupted += delivery.interrupted ? 1 : 0;
    printer.found(toRecord(delivery), () => deliveryLine(delivery, printer));
  }
  if (printer.isForPeople) {
    if (found.size === 0) printer.note(noneOf(flags, STATES));
    for (const [state, count] of found) printer.note(`${count} ${state}: ${MEANING[state]}`);
  }
  if (interrupted > 0) printer.note(mayBeDone(interrupted));
}

async function show(
  store: IdempotencyStore,
  given: string,
  printer: Printer,
  isUsed: OpenStore['isUsed'],
): Promise<boolean> {
  const found = await find(store, given);
  if (found) {
    const body = new TextDecoder().decode(found.body);
    printer.found({ ...toRecord(found), body }, () => wholeLines(found, body, printer));
    if (found.key !== given && found.id !== given) await noteOthers(store, found, printer);
    return true;
  }
  // Redis would record the layout of a store, as if a receiver had used the database.
  const mayBe = (await isUsed()) !== false;
  const isDone = mayBe && (await store.isDone?.(given).catch(() => false));
  if (isDone)
    printer.note('This delivery was handled. The store keeps only the key of a handled delivery.');
  else
    printer.note(
      'The store has no such delivery that is dead, stalled or failing: it was handled, it never arrived, or it was put back within the last minute. reconcile and the log of the provider show which.',
    );
  return false;
}

/** Reports the other unfinished deliveries of an order. */
async function noteOthers(
  store: IdempotencyStore,
  { key, orderId, scope }: StoredDelivery,
  printer: Printer,
): Promise<void> {
  if (orderId === undefined) return;
  // A delivery whose state changes meanwhile is listed twice.
  const others = new Set<string>();
  for await (const other of deliveriesIn(store, STATES, scope))
    if (other.orderId === orderId && other.key !== key) others.add(other.key);
  if (others.size === 0) return;
  printer.note(
    `${others.size} more of this order: show each by its key, as listed by`,
    `npx storefront-webhooks dead list <store> --where ${quote(`order=${orderId}`)}`,
  );
}

async function count(
  store: IdempotencyStore,
  { scope }: Pick<Flags, 'scope'>,
  printer: Printer,
): Promise<void> {
  const counts = await Promise.all(
    STATES.map(async (state) => [state, await store.count({ state, scope })] as const),
  );
  const orMore = counts.flatMap(([state, number]) => (number < COUNT_LIMIT ? [] : state));
  const told = { ...Object.fromEntries(counts), ...(orMore.length > 0 && { orMore }) };
  printer.found(told, () =>
    counts.map(([state, number]) => `${state.padEnd(8)} ${toShown(number)}`),
  );
}
