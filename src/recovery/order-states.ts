import { type EntryFound, type Missed, timeOr } from './log-entry.js';
import type { OrdersInLog } from './orders-in-log.js';

/** A state of an order that the log shows. Times are milliseconds. */
interface State {
  readonly changedAt: number;
  /** The time at which the provider first sent this state. */
  readonly sentAt: number;
  readonly isReversed: boolean;
  readonly isPaid: boolean;
}

/** The states that only follow a payment: charged back and refunded (specification: Order status). */
export const REVERSED: readonly unknown[] = [51, 56];

/**
 * The newest states that the log shows of the orders whose payment was missed. The payload of a missed `order:paid` does
 * not show that its order was refunded since, and the access token may not be allowed to read orders.
 *
 * Keeps nothing for other orders, of which the log may have a million. So it needs a reading of the log that begins
 * after each of these orders is known: see `wanted`.
 */
export class OrderStates {
  /** The newest state of each wanted order; `undefined` until the log shows one. */
  readonly #newest = new Map<string, State | undefined>();
  readonly #logged: Pick<OrdersInLog, 'has'> | undefined;
  #readings = 0;
  #wanted = 0;

  /** @param logged - The paid orders that the log mentions, if the states of all other orders are needed, too. */
  constructor(logged?: Pick<OrdersInLog, 'has'>) {
    this.#logged = logged;
  }

  /** The number of orders that `want` has added. If a reading adds one, it is incomplete, and another has to follow. */
  get wanted(): number {
    return this.#wanted;
  }

  /** Begins another reading of the log. */
  begin(): void {
    this.#readings += 1;
  }

  /** Adds the order of a missed delivery to those whose states are needed. */
  want({ isPaid, recordId }: Pick<Missed, 'isPaid' | 'recordId'>): void {
    if (!isPaid || recordId === undefined || this.#newest.has(recordId)) return;
    this.#newest.set(recordId, undefined);
    this.#wanted += 1;
  }

  add({ event, record, recordId, isPaid, changedAt }: EntryFound, createdAt: unknown): void {
    const { status } = record;
    if (recordId === undefined || status === undefined || !event.startsWith('order:')) return;
    if (!this.#isWanted(recordId)) return;
    const sentAt = timeOr(createdAt, changedAt);
    const state = { changedAt, sentAt, isReversed: REVERSED.includes(status), isPaid };
    const known = this.#newest.get(recordId);
    if (!known || isLater(state, known)) this.#newest.set(recordId, state);
  }

  #isWanted(orderId: string): boolean {
    if (this.#newest.has(orderId)) return true;
    // During the first reading, `logged` still lacks most orders of the log.
    return this.#readings > 1 && this.#logged?.has(orderId) === false;
  }

  /** Whether a delivery says that an order is paid, and the log has a later state that is not. */
  isTakenBack({ isPaid, recordId = '', changedAt }: Missed): boolean {
    const newest = this.#newest.get(recordId);
    if (!isPaid || !newest || newest.isPaid) return false;
    // At the same time, only a reversal is surely later than the payment.
    return newest.changedAt > changedAt || (newest.isReversed && newest.changedAt === changedAt);
  }
}

/** Several states of an order may have the same time, such as of one second. */
function isLater(one: State, other: State): boolean {
  if (one.changedAt !== other.changedAt) return one.changedAt > other.changedAt;
  if (isBeforePayment(one) !== isBeforePayment(other)) return isBeforePayment(other);
  if (one.sentAt !== other.sentAt) return one.sentAt > other.sentAt;
  return one.isReversed;
}

/** An order is created, paid and reversed in this order, whenever the webhooks were sent. */
function isBeforePayment({ isPaid, isReversed }: State): boolean {
  return !isPaid && !isReversed;
}
