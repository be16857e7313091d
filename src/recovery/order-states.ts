import { type EntryFound, type Missed, timeOr } from './log-entry.js';

/** A state of an order that the log shows. Times are milliseconds. */
interface State {
  readonly changedAt: number;
  /** The time at which the provider first sent this state. */
  readonly sentAt: number;
  readonly isReversed: boolean;
  readonly isPaid: boolean;
}

/** The states that only follow a payment: charged back and refunded (specification: Order status). */
const REVERSED: readonly unknown[] = [51, 56];

/**
 * The newest state of each order in the log. The payload of a missed `order:paid` does not show that its order was
 * refunded since, and the access token may not be allowed to read orders.
 */
export class OrderStates {
  readonly #newest = new Map<string, State>();

  add({ event, record, recordId, isPaid, changedAt }: EntryFound, createdAt: unknown): void {
    const { status } = record;
    if (recordId === undefined || status === undefined || !event.startsWith('order:')) return;
    const sentAt = timeOr(createdAt, changedAt);
    const state = { changedAt, sentAt, isReversed: REVERSED.includes(status), isPaid };
    const known = this.#newest.get(recordId);
    if (!known || isLater(state, known)) this.#newest.set(recordId, state);
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
