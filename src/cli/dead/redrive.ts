import { validateHeaderName } from 'node:http';
import { type IdempotencyStore, type StoredDelivery, UsageError } from 'storefront-webhooks';
import { describeError } from '../../errors/text.js';
import { readAddress } from '../../testing/target.js';
import type { Printer } from '../printer.js';
import { readSecrets, type SecretFlags } from '../secrets.js';
import type { Session } from '../session.js';
import { quote } from '../shell.js';
import { deliveryLine as deadLine, toRecord } from './lines.js';
import { deliveriesIn, findNow } from './pages.js';
import { isElsewhere, isForAll, isHeaderValue, isUnverified, MOST_IN_A_ROW, send } from './send.js';
import { type Flags, MEANING, mayBeDone, noneOf, type State, toShown } from './states.js';
import { Stop } from './stop.js';
import { toFilter } from './where.js';

export interface RedriveFlags extends Flags, SecretFlags {
  readonly apply: boolean;
  readonly to?: string;
  readonly headerPrefix?: string;
  readonly timeout: number;
  readonly plainHttp: boolean;
  readonly max: number;
}

/**
 * Puts deliveries back. Resolves with false if one is not proven genuine, or if the shop did not run one. Stops once
 * answers show that the shop would run none of the others, or is another shop: putting back a delivery erases its error.
 *
 * @throws {UsageError} If the shop cannot be reached at the address, or the deliveries belong to several shops.
 */
export async function redrive(
  store: IdempotencyStore,
  flags: RedriveFlags,
  session: Session,
): Promise<boolean> {
  const { printer } = session;
  let interrupted = 0;
  const onInterrupted = ({ orderId, key }: StoredDelivery) => {
    interrupted += 1;
    if (!flags.apply) return;
    // At once: the delivery has lost its mark, and nothing else names its order if this command ends early.
    printer.note(
      `Check ${orderId ?? key}: its delivery had been interrupted, so it may be delivered twice.`,
    );
  };
  try {
    return await redriveAll(store, flags, session, onInterrupted);
  } finally {
    if (interrupted > 0) {
      printer.note(
        flags.apply
          ? `${interrupted} had been interrupted: check each order that a line above names.`
          : mayBeDone(interrupted),
      );
    }
  }
}

/** @param onInterrupted - Called for each delivery that is put back although it may be done. */
async function redriveAll(
  store: IdempotencyStore,
  flags: RedriveFlags,
  session: Session,
  onInterrupted: (delivery: StoredDelivery) => void,
): Promise<boolean> {
  const { printer } = session;
  const secret = flags.apply && flags.to !== undefined ? readSecrets(flags, session)[0] : '';
  // Before a delivery is put back, which would no longer be listed for a minute.
  if (flags.to !== undefined) {
    readAddress(flags.to, flags.plainHttp);
    validateHeaderName(`${flags.headerPrefix ?? 'X-Service-'}Event`);
  }
  const wanted = await findWanted(store, flags, printer);
  if (flags.to !== undefined && flags.scope === undefined) refuseOtherShops(wanted);
  const stop = new Stop();
  if (flags.apply) stop.listen(session);
  let allGood = true;
  let putBack = 0;
  let taken = 0;
  const refused: string[] = [];
  let inARow = 0;
  let answers = 0;
  let unsendable = 0;
  let hasMore = false;
  let hasUnsent = false;
  let atOther = false;
  let isStopped = false;
  for (const [index, listed] of wanted.entries()) {
    printer.progress(`${index} of ${wanted.length} done …`);
    // Another process may have handled or put back the delivery since it was listed.
    const delivery = await findNow(store, listed.key, soonIn(listed.state));
    if (!delivery) continue;
    if (stop.isAsked) {
      isStopped = true;
      break;
    }
    const left = whyLeft(delivery, flags);
    if (left === undefined && putBack === flags.max) {
      hasMore = true;
      break;
    }
    if (left === undefined) stop.inFlight = delivery.key;
    // Or would be, without --apply. A failing delivery is not put back: it runs when it is sent.
    const isBack =
      left === undefined &&
      (!flags.apply || delivery.state === 'failing' || (await store.redrive(delivery.key)));
    putBack += isBack ? 1 : 0;
    if (isBack && delivery.interrupted) onInterrupted(delivery);
    allGood &&= left === undefined;
    unsendable += left === UNSENDABLE ? 1 : 0;
    if (!flags.apply || flags.to === undefined || !isBack) {
      const done = flags.apply ? 'put back' : 'would be put back';
      const action = left ?? (isBack ? done : 'left: it has changed');
      printer.found({ ...toRecord(delivery), action }, () => deadLine(delivery, printer, action));
      stop.inFlight = undefined;
      continue;
    }
    const sent = await send(store, delivery, flags.to, secret, flags, printer).catch((error) => {
      const action = `left: ${describeError(error)}`;
      printer.found({ ...toRecord(delivery), action }, () => deadLine(delivery, printer, action));
      // A wrong option, which fails every other delivery, too.
      if (error instanceof UsageError) throw error;
      return undefined;
    });
    stop.inFlight = undefined;
    const wasTaken = sent?.good === true;
    taken += wasTaken ? 1 : 0;
    allGood &&= wasTaken;
    if (!wasTaken) refused.push(delivery.key);
    inARow = sent && !wasTaken && isForAll(sent) ? inARow + 1 : 0;
    answers += sent && sent.status !== 0 ? 1 : 0;
    atOther = sent !== undefined && isElsewhere(sent);
    const isWrong = atOther || (answers === 1 && sent && isUnverified(sent));
    if (inARow === MOST_IN_A_ROW || isWrong) {
      hasUnsent = index < wanted.length - 1;
      break;
    }
  }
  printer.progress(undefined);
  if (wanted.length === 0) {
    printer.note(noneOf(flags, LEFT));
    const failing = flags.state ? 0 : await store.count({ state: 'failing', scope: flags.scope });
    if (failing > 0) printer.note(`${toShown(failing)} failing: ${MEANING.failing}`);
  } else if (!flags.apply) printer.note('Nothing was done: add --apply.');
  else if (flags.to === undefined) {
    printer.note(
      `${putBack} put back: they run when the provider retries them. If it will not, --to makes the shop run them now. If the shop has a queue, call receiver.redrive(delivery) in it instead.`,
    );
  } else {
    printer.note(`${putBack} sent, ${taken} accepted by the shop.`);
    if (hasUnsent) {
      const next = atOther ? '' : ': once the shop accepts deliveries, run this command again';
      printer.note(`The others were not sent, and are unchanged${next}.`);
    }
    if (refused.length > 0)
      printer.note(`${refused.length} not accepted, and ${toRepeat(refused, flags, atOther)}`);
  }
  if (unsendable > 0) {
    printer.note(
      `${unsendable} cannot be sent, because an HTTP header cannot hold the id or the event: the store cuts a long one. Call receiver.redrive(delivery) in a program of the shop.`,
    );
  }
  if (hasMore) {
    printer.note(`There are more than ${flags.max}: run it again for the rest, or raise --max.`);
  }
  if (isStopped) {
    printer.note('Stopped. The others are unchanged: run the command again to resume.');
  }
  return allGood && !hasMore && !isStopped;
}

/** Returns why a delivery is left as it is; `undefined` if it can be put back. */
function whyLeft(
  { proof, state, id, event }: Pick<StoredDelivery, 'proof' | 'state' | 'id' | 'event'>,
  { to }: Pick<RedriveFlags, 'to'>,
): string | undefined {
  // An operator has to vouch that it is genuine, with receiver.redrive(delivery, { vouched: true }).
  if (proof?.startsWith('!')) return 'not proven: left';
  // Before it is put back, which would erase its error.
  if (to !== undefined && !(isHeaderValue(id) && isHeaderValue(event))) return UNSENDABLE;
  return state === 'failing' && to === undefined ? 'left: give --to' : undefined;
}

const UNSENDABLE = 'left: cannot be sent';

/** The most keys to name. */
const MOST_NAMED = 10;

function toList(all: readonly string[]): string {
  const rest = all.length > MOST_NAMED ? `, and ${all.length - MOST_NAMED} more` : '';
  return `${all.slice(0, MOST_NAMED).join(', ')}${rest}`;
}

/**
 * Returns how to find the same deliveries again, which are not dead any more, and have lost their errors. No others: one
 * that was interrupted may be done.
 *
 * @param atOther - Whether another shop answered: the same command would have it deliver one more order.
 */
function toRepeat(keys: readonly string[], { state, where }: Flags, atOther: boolean): string {
  const outdated = where.filter((one) => /^(error|attempts|interrupted=true)\b/.test(one));
  const next = atOther
    ? `send ${keys.length === 1 ? 'it' : 'each'} to the shop of this store`
    : 'run this command again';
  const again = `stalled within a minute: then ${next}`;
  if (outdated.length === 0 && state !== 'dead') return `${again}.`;
  const flags = [
    ...(state === undefined ? [] : [`--state ${state}`]),
    ...outdated.map((one) => `--where ${quote(one)}`),
  ].join(' ');
  const [key = ''] = keys;
  if (keys.length === 1) return `${again}, with --where key=${key} in place of ${flags}.`;
  const all = atOther ? again : `${again} for each`;
  return `${all}, with --where key=… in place of ${flags}: ${toList(keys)}.`;
}

/**
 * The shop at one address has one secret and one scope. It would run the deliveries of another shop under new keys, as
 * genuine, because this command signs them with its secret. So the operator has to name the scope.
 */
function refuseOtherShops(wanted: readonly Listed[]): void {
  const scopes = [...new Set(wanted.map(({ scope }) => scope))].sort();
  if (scopes.every((scope) => scope === '')) return;
  const named = scopes.slice(0, 5).map((scope) => JSON.stringify(scope));
  throw new UsageError(
    'option_invalid',
    scopes.length > 1
      ? `These deliveries have several scopes: ${named.join(', ')}. Name one with --scope, and the address and the secret of its shop.`
      : `These deliveries have the scope ${named[0]}. If the address and the secret are those of its shop, name it with --scope.`,
  );
}

/** The states in which a delivery is not retried. */
const LEFT: readonly State[] = ['dead', 'stalled'];

/** The states that a listed delivery may be in by now: a failing one may have become stalled. */
const soonIn = (state: State): readonly State[] =>
  state === 'failing' ? ['failing', 'stalled'] : [state];

/** The part of a listed delivery that is kept until it is read again: its body may be large. */
type Listed = Pick<StoredDelivery, 'key' | 'scope' | 'state' | 'orderId' | 'receivedAt'>;

/** Lists the deliveries to put back, oldest first: the refund of an order has to run after its payment. */
async function findWanted(
  store: IdempotencyStore,
  flags: RedriveFlags,
  printer: Printer,
): Promise<readonly Listed[]> {
  const { scope, state, to } = flags;
  const fits = toFilter(flags.where);
  const wanted = new Map<string, Listed>();
  const take = (delivery: StoredDelivery) => {
    if (!fits(delivery)) return;
    const { key, orderId, receivedAt } = delivery;
    // A delivery whose state changes meanwhile is listed twice.
    wanted.set(key, { key, scope: delivery.scope, state: delivery.state, orderId, receivedAt });
    printer.progress(`${wanted.size} found …`);
  };
  for await (const delivery of deliveriesIn(store, state ? soonIn(state) : LEFT, scope)) {
    take(delivery);
  }
  // A failing delivery of the same order would stay listed although the order was delivered.
  const orders = new Set(Array.from(wanted.values(), orderOf));
  const hasFailing = state === undefined && to !== undefined && orders.size > 0;
  for await (const delivery of deliveriesIn(store, hasFailing ? ['failing'] : [], scope)) {
    if (delivery.orderId !== undefined && orders.has(orderOf(delivery))) take(delivery);
  }
  return [...wanted.values()].sort((a, b) => Number(a.receivedAt) - Number(b.receivedAt));
}

const orderOf = ({ scope, orderId }: Listed) => JSON.stringify([scope, orderId]);
