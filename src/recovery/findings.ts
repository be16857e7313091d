import type { Order, OrderStatus } from '../schemas/order.js';
import type { UnfinishedState } from '../stores/store.js';
import type { Delivered } from './delivered-orders.js';
import type { DeliveryStatus } from './delivery-status.js';
import { findEarlier, type MissedFacts } from './earlier-deliveries.js';
import { type Found, lacksOrders } from './endpoint.js';
import { moneyOf, timeOr } from './log-entry.js';
import { isSafeUnlogged } from './orders.js';
import type { ReconcileSettings } from './reconcile-options.js';
import type { Remedy } from './remedies.js';
import type { Pace } from './request-rate.js';

/**
 * How the provider and the shop disagree about an order. `not_delivered`: paid, but not delivered.
 * `delivered_twice`: delivered more than once. `not_taken_back`: refunded or charged back, but still
 * delivered. `not_paid`: delivered, but neither paid nor reversed.
 */
export type FindingKind = 'not_delivered' | 'delivered_twice' | 'not_taken_back' | 'not_paid';

/** An order about which the provider and the shop disagree. */
export interface Finding {
  readonly orderId: string;
  readonly kind: FindingKind;
  /**
   * For `not_delivered`, where the delivery is that reports the payment: `dead`, `stalled` or `failing` in the store,
   * otherwise its status in the provider's log, or `unlogged` if the log has no such delivery.
   */
  readonly because: UnfinishedState | DeliveryStatus | 'unlogged' | undefined;
  /**
   * How to recover the order; `undefined` if nothing has to be done, such as while a retry is pending, and for any
   * `kind` but `not_delivered`.
   */
  readonly remedy: Remedy | undefined;
  /** How often the order was delivered. */
  readonly times: number;
  readonly status: OrderStatus;
  /** The value of the order, a decimal as text; `undefined` if the order has none. */
  readonly value: string | undefined;
  readonly currency: string | undefined;
  readonly updatedAt: Date | undefined;
}

/** An order that claims to change later than this is judged as any other. */
const MOST_AHEAD_MS = 24 * 60 * 60_000;

/** A finding whose remedy is not known yet. */
export interface Judged {
  readonly finding: Omit<Finding, 'remedy'>;
  readonly missed: MissedFacts | undefined;
}

/** Returns how the provider and the shop disagree about an order. */
export function judge(
  order: Order,
  { times, wasTakenBack }: Delivered,
  settings: ReconcileSettings,
): FindingKind[] {
  const { receiver, reversedStatuses } = settings;
  const isPaid = receiver.isPaid(order);
  const isReversed = reversedStatuses.some((one) => one === order.status);
  const mayStillCome = isYoung(order, settings);
  const kinds: FindingKind[] = [];
  if (isPaid && times === 0 && !mayStillCome) kinds.push('not_delivered');
  if (times > 1) kinds.push('delivered_twice');
  if (isReversed && times > 0 && !mayStillCome && !wasTakenBack) kinds.push('not_taken_back');
  if (!isPaid && !isReversed && times > 0) kinds.push('not_paid');
  return kinds;
}

/** @param where - The place of the delivery, and the properties to judge it by. */
export function toJudged(
  order: Order,
  kind: FindingKind,
  times: number,
  where: { readonly because: Finding['because']; readonly missed: MissedFacts | undefined },
): Judged {
  const updatedAt = timeOr(order.updated_at, Number.NaN);
  const isMissed = kind === 'not_delivered';
  return {
    finding: {
      ...{ orderId: order.id, kind, because: isMissed ? where.because : undefined, times },
      ...{ status: order.status, ...moneyOf(order) },
      updatedAt: Number.isNaN(updatedAt) ? undefined : new Date(updatedAt),
    },
    missed: isMissed ? where.missed : undefined,
  };
}

export function isYoung(
  { updated_at }: Order,
  { now, pendingAfterMs }: ReconcileSettings,
): boolean {
  const ageMs = now - timeOr(updated_at, Number.NaN);
  // Below zero, the order has changed since this began, or the provider's clock is ahead.
  return ageMs < pendingAfterMs && ageMs > -MOST_AHEAD_MS;
}

/**
 * Adds the remedy of each finding, by the rules of `recover()`.
 *
 * @param firstPaidAt - When the log has its first paid order.
 */
export async function withRemedies(
  judged: readonly Judged[],
  settings: ReconcileSettings,
  pace: Pace,
  { found, firstPaidAt }: { readonly found: Found; readonly firstPaidAt: number },
): Promise<Finding[]> {
  const isEarlier = await findEarlier(
    settings,
    pace,
    judged.flatMap(({ missed }) => missed ?? []),
  );
  const { receiver, since } = settings;
  const isSafe = receiver.isFront || isSafeUnlogged(settings);
  const isLacking = lacksOrders(found, Math.max(firstPaidAt, since), receiver);
  const unlogged = isLacking ? 'recover' : 'orders';
  const remedyOf = ({ finding: { because }, missed }: Judged): Remedy | undefined => {
    if (because === 'dead' || because === 'stalled' || because === 'failing') return 'dead';
    if (because === 'done') return 'byHand';
    if (!missed) return undefined;
    if (isEarlier(missed)) return 'earlier';
    if (because === 'queued') return 'queued';
    if ((because === 'unlogged' || because === 'edited') && !isSafe) return 'oncePer';
    return because === 'unlogged' ? unlogged : 'recover';
  };
  return judged.map((one) => ({ ...one.finding, remedy: remedyOf(one) }));
}
