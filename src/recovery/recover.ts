import { ApiError } from '../api/api-error.js';
import { UsageError } from '../errors/errors.js';
import { INTERNALS } from '../process/internals.js';
import { findEarlier } from './earlier-deliveries.js';
import {
  deleteDisabled,
  describeWithout,
  type EndpointState,
  type Found,
  findEndpoint,
  isSending,
  lacksOrders,
  PAID,
  paidEvents,
  recreateEndpoint,
} from './endpoint.js';
import type { Missed } from './log-entry.js';
import { type RecoverOptions, readRecoverOptions } from './options.js';
import { findUnlogged, type Unlogged } from './orders.js';
import { type LogCounts, readLog } from './read-log.js';
import { Pace } from './request-rate.js';
import type { Recovered, RecoveredOutcome } from './results.js';
import { Running } from './run-missed.js';

/** The result of {@link recover}. */
export interface Recovery {
  readonly applied: boolean;
  /**
   * The number of log entries of each kind. If orders are compared, `unreadable` includes unreadable orders.
   */
  readonly log: LogCounts;
  readonly endpoint: EndpointState;
  /** The addresses in `url` that have no endpoint. The provider sends nothing there. */
  readonly withoutEndpoint: readonly string[];
  /** The addresses of the account's endpoints, without their queries, most like `withoutEndpoint` first. */
  readonly otherEndpoints: readonly string[];
  /**
   * Whether the orders had to be compared because of the endpoint, and the credentials may not read orders. Then paid
   * orders that the log does not mention may be missing from `deliveries`, and `complete` is false.
   */
  readonly ordersForbidden: boolean;
  /** The missed deliveries, in the order in which they were run. */
  readonly deliveries: readonly Recovered[];
  /**
   * Whether nothing is left except what the provider still sends by itself, `log.waiting`, and what your
   * queue still has to do, `log.queued`.
   */
  readonly complete: boolean;
  /** The number of requests to the provider. */
  readonly requests: number;
}

/**
 * Recovers the deliveries that a receiver missed while it was down. Reads the provider's log, finds the
 * deliveries that this receiver never answered with success, and runs them through the same handlers under
 * the same keys. Work that was done is not done again, and a retry that arrives later is a duplicate. Run it
 * as often as you like. If it is killed, the next run continues from what the store has as done.
 *
 * Without `apply`, it only lists. It runs the oldest first, and a change of an order waits for the one before
 * it. Deliveries have the `source` `'log'`: they are trusted because they came over the authenticated API.
 *
 * Rejects with a `UsageError`, `option_invalid`, also if no endpoint of the account has the address that
 * `apply` is for; and with an `ApiError` if the provider rejects a request, or is unavailable for some
 * minutes.
 *
 * @example
 * const auth = { accessToken: process.env.ACCESS_TOKEN };
 * const client = createClient({ baseUrl: 'https://shop.example', auth });
 * const { deliveries, complete } = await recover({ receiver, client, url: 'https://me.example/webhooks', apply: true });
 */
export async function recover(options: RecoverOptions): Promise<Recovery> {
  const read = readRecoverOptions(options);
  const { apply, queued, receiver } = read;
  const pace = new Pace(read);
  const found = await findEndpoint(read, pace);
  const settings = { ...read, apart: found.apart, scopes: found.scopes };
  if (apply && settings.orders === undefined) checkAddresses(found);
  // Create the new endpoint first: the provider sends it every order paid from now on. Delete the old one
  // last: if the process is killed in between, the next run still sees that orders have to be compared, and
  // that the old endpoint gets no retries.
  const endpoint = settings.recreateEndpoint
    ? await recreateEndpoint(found, settings, pace)
    : found;
  const sends = isSending(found);
  const orders =
    receiver.handles(PAID) && (settings.orders ?? lacksOrders(found, settings.since, receiver));
  const isTelling = paidEvents(found, receiver);
  const log = await readLog(settings, pace, { sends, orders, queued, isTelling });
  const compared =
    log.logged && (settings.orders || lacksOrders(found, log.firstPaidAt, receiver))
      ? await findUnlogged(settings, pace, log.logged, sends).catch((error: unknown) => {
          // The endpoint asked for the orders, not the operator, and the deliveries in the log run without them.
          const isForbidden = error instanceof ApiError && error.code === 'forbidden';
          if (settings.orders === undefined && isForbidden) return undefined;
          throw error;
        })
      : NONE_UNLOGGED;
  const { unlogged, waiting, unreadable } = compared ?? NONE_UNLOGGED;
  const counts = {
    ...log.counts,
    waiting: log.counts.waiting + waiting,
    unreadable: log.counts.unreadable + unreadable,
  };
  const missed = [...log.missed.values(), ...unlogged].sort(inOrder);
  const isTakenBack = (one: Missed) => log.states.isTakenBack(one);
  const left = settings.earlier ? [] : missed.filter((one) => !one.isDone && !isTakenBack(one));
  const isEarlier = await findEarlier(settings, pace, left, log.answers);
  const judged = { sends, isEarlier, isTakenBack };
  const deliveries = await new Running(settings, pace, judged).run(missed);
  const isComplete =
    compared !== undefined &&
    deliveries.every(({ outcome }) => DONE.includes(outcome)) &&
    // The provider sends no retries to a disabled endpoint.
    counts.unreadable + counts.unknownShop + (sends ? 0 : counts.waiting) === 0;
  // Only deliveries that need an operator's decision are left. Without the old endpoint, the creation time of
  // the new one still makes later runs compare the orders.
  const isOver =
    compared !== undefined &&
    counts.waiting === 0 &&
    deliveries.every(({ outcome }) => [...DONE, 'unsafe', 'earlier'].includes(outcome)) &&
    lacksOrders({ ...endpoint, disabled: [] }, Math.max(log.firstPaidAt, settings.since), receiver);
  if (settings.recreateEndpoint && (isComplete || isOver))
    await deleteDisabled(endpoint, settings, pace);
  const isSent = endpoint.state === 'enabled';
  // The program may end with this run, as a scheduled function does.
  await options.receiver[INTERNALS].processing.recording;
  return {
    applied: apply,
    log: counts,
    withoutEndpoint: endpoint.without,
    otherEndpoints: endpoint.others,
    ordersForbidden: compared === undefined,
    endpoint: isSent && found.state === 'disabled' ? 'recreated' : endpoint.state,
    deliveries,
    complete: isComplete && isSent,
    requests: pace.requests,
  };
}

const NONE_UNLOGGED: Unlogged = { unlogged: [], waiting: 0, unreadable: 0 };

/**
 * Rejects an address that no endpoint has: it is more likely mistyped, or of another account, than the
 * address of an endpoint that is gone.
 */
function checkAddresses(found: Found): void {
  if (found.without.length === 0) return;
  throw new UsageError(
    'option_invalid',
    `recover: ${describeWithout(found)} So nothing was done. ` +
      'Correct the address, or check that the token belongs to this account. If the endpoint was deleted, or a product ' +
      'or a payment names the address itself, set orders: with orders: false (--no-orders), recover runs what the log ' +
      'has for this address; with orders: true (--orders), also paid orders since the first answer of this receiver ' +
      'that the log does not mention.',
  );
}

const DONE: readonly RecoveredOutcome[] = ['handled', 'duplicate', 'ignored', 'settled'];

function inOrder(a: Missed, b: Missed): number {
  return a.changedAt - b.changedAt || a.sentAt - b.sentAt || (a.id < b.id ? -1 : 1);
}
