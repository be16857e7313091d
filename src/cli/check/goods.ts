import { setTimeout as wait } from 'node:timers/promises';
import type { Observer } from './observer.js';
import type { Complaint, Goods, TrialOrder } from './trial.js';

const POLL_MS = 150;

/** Counts the goods of the orders of a row, and finds what is wrong with them. */
export class GoodsCount {
  /** The last count. */
  total = 0;
  complaint: Complaint | undefined;
  /** Whether an order got more goods than it may get. */
  isTooMany = false;
  readonly #observer: Observer;
  readonly #orders: readonly TrialOrder[];
  /** The count before the row, if the observer counts all goods instead of one order's. */
  readonly #before: number;

  constructor(observer: Observer, orders: readonly TrialOrder[], before: number) {
    this.#observer = observer;
    this.#orders = orders;
    this.#before = before;
  }

  /** Waits until there are as many goods as there have to be, but not longer than `waitMs`. */
  async settle(waitMs: number, signal: AbortSignal): Promise<void> {
    const end = performance.now() + waitMs;
    do {
      await this.count();
      if (this.complaint === undefined || this.isTooMany) return;
      await wait(POLL_MS);
    } while (performance.now() < end && !signal.aborted);
  }

  /** Counts the goods, and judges the count. */
  async count(): Promise<void> {
    if (this.#observer.perOrder) {
      const counts = await Promise.all(this.#orders.map(({ id }) => this.#observer.count(id)));
      this.#forget();
      this.total = counts.reduce((sum, count) => sum + count, 0);
      for (const [index, { goods }] of this.#orders.entries())
        this.#judge(counts[index] ?? 0, goods);
    } else {
      this.total = (await this.#observer.count(this.#orders[0]?.id ?? '')) - this.#before;
      this.#forget();
      const sum = (at: 0 | 1) => this.#orders.reduce((all, { goods }) => all + goods[at], 0);
      this.#judge(this.total, [sum(0), sum(1)]);
    }
  }

  #forget(): void {
    this.complaint = undefined;
    this.isTooMany = false;
  }

  #judge(count: number, [atLeast, atMost]: Goods): void {
    if (count > atMost) {
      this.isTooMany = true;
      this.complaint = atMost === 0 ? unpaid(count) : twice(count, atMost);
    } else if (count < atLeast) {
      this.complaint ??= missing(count, atLeast);
    }
  }
}

function twice(count: number, atMost: number): Complaint {
  return {
    cause: `Goods were handed out ${times(count)} instead of ${times(atMost)}.`,
    customer:
      atMost === 1
        ? `${spelled(count)} keys were handed out for one payment.`
        : `${spelled(count)} keys were handed out for ${atMost} payments.`,
  };
}

function unpaid(count: number): Complaint {
  return {
    cause: `Goods were handed out ${times(count)} instead of never.`,
    customer: `${spelled(count)} ${count === 1 ? 'key was' : 'keys were'} handed out without a payment: a customer who pays finds the stock empty.`,
  };
}

function missing(count: number, atLeast: number): Complaint {
  return {
    cause: `Goods were handed out ${times(count)} instead of ${times(atLeast)}.`,
    customer: 'A customer has paid and never gets the goods.',
  };
}

function times(count: number): string {
  return ['never', 'once', 'twice'][count] ?? `${count} times`;
}

function spelled(count: number): string {
  return (
    ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight'][count] ?? `${count}`
  );
}
