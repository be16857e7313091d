import type { Order, OrderStatus } from '../schemas/order.js';
import type { UnfinishedState } from '../stores/store.js';
import { type Delivered, findDelivered } from './delivered.js';
import { untilSettled } from './entries.js';
import { gatherEvidence } from './evidence.js';
import { moneyOf, timeOr } from './missed.js';
import { orderPages } from './orders.js';
import { Pace } from './pace.js';
import {
  type ReconcileOptions,
  type ReconcileSettings,
  readReconcileOptions,
} from './reconcile-options.js';
import type { Standing } from './standing.js';

/**
 * What does not agree. `not_delivered`: paid, and nothing went out. `delivered_twice`. `not_taken_back`: refunded
 * or charged back, and still delivered. `not_paid`: delivered, and neither paid nor reversed.
 */
export type FindingKind = 'not_delivered' | 'delivered_twice' | 'not_taken_back' | 'not_paid';

/** An order about which the provider and the shop do not agree. */
export interface Finding {
  readonly orderId: string;
  readonly kind: FindingKind;
  /**
   * Of what is not delivered, where it is: in the store `dead`, `stalled` or `failing`; else how the delivery
   * stands in the provider's log, or `unlogged` where it does not tell of it.
   */
  readonly because: UnfinishedState | Standing | 'unlogged' | undefined;
  /** How often it was delivered. */
  readonly times: number;
  readonly status: OrderStatus;
  /** What the order is worth, as far as it says so: a decimal as text. */
  readonly value: string | undefined;
  readonly currency: string | undefined;
  readonly updatedAt: Date | undefined;
}

/** What `reconcile` has found. */
export interface Reconciliation {
  readonly findings: readonly Finding[];
  /** How many orders were looked at, and of these paid, and delivered. */
  readonly orders: number;
  readonly paid: number;
  readonly delivered: number;
  /** How many have changed within `pendingAfter`, so that their webhook may still be on its way: not judged yet. */
  readonly young: number;
  /** How many records of the provider's list are no order, by their `id`, `status` or `email`: not looked at. */
  readonly unreadable: number;
  /** How many requests it took. */
  readonly requests: number;
}

/** See `reconcile`. */
export async function reconcileOnce(options: ReconcileOptions): Promise<Reconciliation> {
  const settings = readReconcileOptions(options);
  const pace = new Pace(settings);
  const evidence = await gatherEvidence(settings, pace);
  const unfinished = await settings.receiver.unfinished();
  const findings: Finding[] = [];
  const counts = { orders: 0, paid: 0, delivered: 0, young: 0, unreadable: 0 };
  const seen = new Set<string>();
  const { since } = settings;
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
        for (const { id } of fresh) seen.add(id);
        const delivered = await findDelivered(fresh, evidence, settings);
        for (const order of fresh) {
          const { id } = order;
          const its = delivered.get(id) ?? NOT_DELIVERED;
          counts.orders += 1;
          counts.paid += settings.receiver.isPaid(order) ? 1 : 0;
          counts.delivered += its.times > 0 ? 1 : 0;
          counts.young += isYoung(order, settings) ? 1 : 0;
          const because = unfinished.get(id) ?? evidence.get(id)?.standing ?? 'unlogged';
          findings.push(...judge(order, its, because, settings));
        }
      }
    },
  );
  return { findings, ...counts, requests: pace.requests };
}

const NOT_DELIVERED: Delivered = { times: 0, wasTakenBack: false };

function judge(
  order: Order,
  { times, wasTakenBack }: Delivered,
  because: Exclude<Finding['because'], undefined>,
  settings: ReconcileSettings,
): Finding[] {
  const { receiver, reversedStatuses } = settings;
  const { id, status, updated_at } = order;
  const isPaid = receiver.isPaid(order);
  const isReversed = reversedStatuses.some((one) => one === status);
  const updatedAt = timeOr(updated_at, Number.NaN);
  const mayStillCome = isYoung(order, settings);
  const kinds: FindingKind[] = [];
  if (isPaid && times === 0 && !mayStillCome) kinds.push('not_delivered');
  if (times > 1) kinds.push('delivered_twice');
  if (isReversed && times > 0 && !mayStillCome && !wasTakenBack) kinds.push('not_taken_back');
  if (!isPaid && !isReversed && times > 0) kinds.push('not_paid');
  return kinds.map((kind) => ({
    orderId: id,
    kind,
    because: kind === 'not_delivered' ? because : undefined,
    times,
    status,
    ...moneyOf(order),
    updatedAt: Number.isNaN(updatedAt) ? undefined : new Date(updatedAt),
  }));
}

function isYoung({ updated_at }: Order, { now, pendingAfterMs }: ReconcileSettings): boolean {
  // Either way: the clock of the provider may be ahead.
  return Math.abs(now - timeOr(updated_at, Number.NaN)) < pendingAfterMs;
}
