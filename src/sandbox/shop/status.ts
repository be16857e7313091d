import type { KeptOrder, OrderCode } from '../state/kinds.js';

/** The words for each status of an order (specification: Order status), and whether the status is good news. */
const STATUSES: Readonly<
  Record<OrderCode, readonly [words: string, mood: 'good' | 'wait' | 'bad']>
> = {
  0: ['Not paid', 'wait'],
  51: ['Chargeback/Reversed', 'bad'],
  52: ['High risk', 'bad'],
  53: ['Partially paid', 'wait'],
  54: ['Awaiting cryptocurrency confirmations', 'wait'],
  55: ['Pending', 'wait'],
  56: ['Refunded', 'bad'],
  100: ['Successful and completed', 'good'],
};

export function describeStatus({ shown }: KeptOrder): {
  readonly words: string;
  readonly mood: string;
} {
  const [words, mood] = STATUSES[shown.status];
  return { words, mood };
}
