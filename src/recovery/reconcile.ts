import type { Order } from '../schemas/order.js';
import { type Delivered, findDelivered } from './delivered-orders.js';
import type { DeliveryStatus } from './delivery-status.js';
import { type EndpointState, findEndpoint } from './endpoint.js';
import { untilSettled } from './entries.js';
import { type Finding, isYoung, type Judged, judge, toJudged, withRemedies } from './findings.js';
import { timeOr } from './log-entry.js';
import { type Gathered, readHistories } from './order-history.js';
import { asUnlogged, orderPages } from './orders.js';
import { PER_PAGE } from './pages.js';
import {
  type ReconcileOptions,
  type ReconcileSettings,
  readReconcileOptions,
} from './reconcile-options.js';
import { Pace } from './request-rate.js';
import { DAY_MS } from './source.js';
import type { UnfinishedOrder } from './store-queries.js';

/** The result of `reconcile`. */
export interface Reconciliation {
  readonly findings: readonly Finding[];
  /** The number of orders that were compared, and how many of these are paid and delivered. */
  readonly orders: number;
  readonly paid: number;
  readonly delivered: number;
  /**
   * The number of orders that changed within `pendingAfter`. Their webhook may still be on its way, so they
   * are not judged yet.
   */
  readonly young: number;
  /**
   * The number of records in the provider's list that are not orders, by their `id`, `status` or `email`.
   * `reconcile` does not compare them.
   */
  readonly unreadable: number;
  /**
   * The number of paid orders that were not delivered here and are older than the first order that the
   * provider sent to this address. Nothing shows that this shop had to deliver them. They are not findings,
   * unless `delivered` is given.
   */
  readonly earlierOrders: number;
  readonly endpoint: EndpointState;
  /** The addresses in `url` that have no webhook endpoint in the account: mistyped, or of another account. */
  readonly withoutEndpoint: readonly string[];
  /** The addresses of the account's endpoints, without their queries, most like `withoutEndpoint` first. */
  readonly otherEndpoints: readonly string[];
  /** The number of requests to the provider. */
  readonly requests: number;
}

const NOTHING: Delivered = { times: 0, wasTakenBack: false, isOlder: false };

/** Compares orders once: see `reconcile`. */
export async function reconcileOnce(options: ReconcileOptions): Promise<Reconciliation> {
  const read = readReconcileOptions(options);
  const pace = new Pace(read);
  const found = await findEndpoint(read, pace);
  const settings = { ...read, apart: found.apart, scopes: found.scopes };
  const { receiver, since, now } = settings;
  // The provider also retries at the replacement of a disabled endpoint, and at an address that only a product names.
  const sends = found.state !== 'disabled';
  const gathered = await readHistories(settings, pace, sends);
  // If the secret function does not know a shop of `url`, a delivery of any scope may be of that shop.
  const scopes = found.lacksScope ? undefined : found.scopes;
  const unfinished = (await receiver.unfinished(scopes)).orders;
  const judged: Judged[] = [];
  const counts = { orders: 0, paid: 0, delivered: 0, young: 0, unreadable: 0, earlierOrders: 0 };
  /**
   * Judges orders, and returns those that only the whole log can judge: not delivered and older than the first order in
   * the log, or reversed.
   */
  const judgeAll = async (
    orders: readonly Order[],
    { orders: history, firstPaidAt }: Gathered,
    isWhole = false,
  ) => {
    const delivered = await findDelivered(orders, history, settings);
    return orders.filter((order) => {
      const { id, created_at } = order;
      const found = delivered.get(id) ?? NOTHING;
      const { times } = found;
      if (found.isOlder && !isWhole) return true;
      const { status, missed } = history.get(id) ?? {};
      const because = placeOf(unfinished.get(id), status);
      const kinds = judge(order, found, settings);
      const isUntold = because === 'unlogged' && kinds.includes('not_delivered');
      if (isUntold && !settings.delivered && timeOr(created_at, now) < firstPaidAt) return true;
      const where = { because, missed: because === 'unlogged' ? asUnlogged(order, now) : missed };
      judged.push(...kinds.map((kind) => toJudged(order, kind, times, where)));
      counts.delivered += times > 0 ? 1 : 0;
      return false;
    });
  };
  const before: Order[] = [];
  const seen = new Set<string>();
  await untilSettled(
    () => seen.size,
    async (sequence) => {
      counts.unreadable = 0;
      const onUnreadable = () => {
        counts.unreadable += 1;
      };
      for await (const orders of orderPages(settings, pace, sequence, onUnreadable)) {
        const fresh = orders.filter(
          ({ id, updated_at }) => !seen.has(id) && timeOr(updated_at, since) >= since,
        );
        for (const order of fresh) {
          seen.add(order.id);
          counts.orders += 1;
          counts.paid += receiver.isPaid(order) ? 1 : 0;
          counts.young += isYoung(order, settings) ? 1 : 0;
        }
        before.push(...(await judgeAll(fresh, gathered)));
      }
    },
  );
  if (before.length > 0) {
    const longAgo = { ...settings, since: wholeSince(before, settings) };
    const whole = await readHistories(longAgo, pace, sends);
    // If the provider has never sent orders to this address, the orders are findings.
    const firstPaidAt = whole.firstPaidAt === Number.POSITIVE_INFINITY ? 0 : whole.firstPaidAt;
    // A page at a time: the store that is asked about each order also serves the deliveries of the shop.
    for (let at = 0; at < before.length; at += PER_PAGE) {
      const page = before.slice(at, at + PER_PAGE);
      counts.earlierOrders += (await judgeAll(page, { ...whole, firstPaidAt }, true)).length;
    }
  }
  const { firstPaidAt } = gathered;
  const findings = await withRemedies(judged, settings, pace, { found, firstPaidAt });
  const endpoints = { withoutEndpoint: found.without, otherEndpoints: found.others };
  return { findings, ...counts, endpoint: found.state, ...endpoints, requests: pace.requests };
}

/**
 * Returns where the delivery of an order is. If an unfinished delivery may not deliver the order, an `order:paid` in the
 * log takes precedence: its recovery, or its retry, delivers the order.
 */
function placeOf(
  unfinished: UnfinishedOrder | undefined,
  status: DeliveryStatus | undefined,
): NonNullable<Finding['because']> {
  const isIt = unfinished && (unfinished.delivers === 'yes' || status === undefined);
  return isIt ? unfinished.state : (status ?? 'unlogged');
}

/**
 * Returns from when on to read the log for these orders. For a paid order, read all of it, to see whether the provider
 * had sent orders to this address by then. The webhooks of a reversed order are not older than the order.
 */
function wholeSince(orders: readonly Order[], { receiver, since }: ReconcileSettings): number {
  const times = orders.map((order) =>
    receiver.isPaid(order) ? 0 : timeOr(order.created_at, DAY_MS) - DAY_MS,
  );
  return times.reduce((first, time) => Math.min(first, time), since);
}
