import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EntryFound, Missed } from '../../src/recovery/log-entry.js';
import { OrderStates } from '../../src/recovery/order-states.js';
import { collect } from '../support/memory.js';

/** An entry of the log about an order. */
interface Sent {
  readonly orderId: string;
  readonly status: number;
  readonly changedAt: number;
  readonly sentAt: number;
  /** Whether it was missed. */
  readonly isMissed: boolean;
}

const MINUTE = 60_000;
const PAID = 100;
const REVERSED = [51, 56];

const sent: fc.Arbitrary<Sent> = fc.record({
  orderId: fc.constantFrom('ord_1', 'ord_2', 'ord_3'),
  status: fc.constantFrom(0, 53, 55, PAID, PAID, ...REVERSED),
  changedAt: fc.nat(4).map((minutes) => minutes * MINUTE),
  sentAt: fc.nat(4).map((minutes) => minutes * MINUTE),
  isMissed: fc.boolean(),
});

/** The entries of a log, in the orders in which several readings return them. */
const readings = fc
  .array(sent, { maxLength: 12 })
  .chain((log) =>
    fc.array(fc.shuffledSubarray(log, { minLength: log.length }), { minLength: 2, maxLength: 4 }),
  );

function toFound({ orderId, status, changedAt }: Sent): EntryFound {
  const unused = () => Promise.reject(new Error('not read'));
  return {
    ...{ status: 'refused', answeredBy: 'foreign', shop: '', receipt: undefined },
    ...{ event: 'order:updated', recordId: orderId, record: { id: orderId, status } },
    ...{ isPaid: status === PAID, changedAt, delivery: unused, keyWithoutId: () => '' },
  };
}

function toMissed({ orderId, status, changedAt, sentAt }: Sent): Missed {
  return {
    ...{ id: 'whl_1', event: 'order:updated', reason: 'refused', shop: '', recordId: orderId },
    ...{ changedAt, sentAt, isPaid: status === PAID, hasReceipt: false, isUnsafe: false },
    ...{ value: undefined, currency: undefined, isDone: false },
  };
}

/** Adds each reading, as `readLog` does. */
function read(all: readonly (readonly Sent[])[], states: OrderStates, onPaid = (_: string) => {}) {
  for (const reading of all) {
    states.begin();
    for (const one of reading) {
      states.add(toFound(one), one.sentAt);
      if (one.isMissed) states.want(toFound(one));
      if (one.status === PAID) onPaid(one.orderId);
    }
  }
}

/** Judges by all states of the order at once: the newest decides. */
function isTakenBackIn(log: readonly Sent[], { orderId, status, changedAt }: Sent): boolean {
  const isBefore = (one: Sent) => one.status !== PAID && !REVERSED.includes(one.status);
  const [newest] = log
    .filter((one) => one.orderId === orderId)
    .sort(
      (a, b) =>
        b.changedAt - a.changedAt ||
        Number(isBefore(a)) - Number(isBefore(b)) ||
        b.sentAt - a.sentAt ||
        Number(REVERSED.includes(b.status)) - Number(REVERSED.includes(a.status)),
    );
  if (status !== PAID || !newest || newest.status === PAID) return false;
  const isReversed = REVERSED.includes(newest.status);
  return newest.changedAt > changedAt || (isReversed && newest.changedAt === changedAt);
}

describe('the states of the orders in a log', () => {
  test('decide as all states at once would, whatever the order of reading', () => {
    fc.assert(
      fc.property(readings, (all) => {
        const [log = []] = all;
        const states = new OrderStates();
        read(all, states);
        for (const one of log.filter(({ isMissed }) => isMissed))
          expect(states.isTakenBack(toMissed(one))).toBe(isTakenBackIn(log, one));
      }),
      { numRuns: 2_000 },
    );
  });

  test('decide alike about a paid order that the log does not mention as paid', () => {
    fc.assert(
      fc.property(readings, sent, (all, order) => {
        const [log = []] = all;
        const logged = new Set<string>();
        const states = new OrderStates(logged);
        read(all, states, (id) => logged.add(id));
        fc.pre(!logged.has(order.orderId));
        const unlogged = { ...order, status: PAID };
        expect(states.isTakenBack(toMissed(unlogged))).toBe(isTakenBackIn(log, unlogged));
      }),
      { numRuns: 2_000 },
    );
  });

  test('ask for another reading if an order is first missed during one', () => {
    const states = new OrderStates();
    const refund = { orderId: 'ord_1', status: 56, changedAt: 2 * MINUTE, sentAt: 0 };
    const payment = { orderId: 'ord_1', status: PAID, changedAt: MINUTE, sentAt: 0 };
    const missed = { ...payment, isMissed: true };
    const log = [{ ...refund, isMissed: false }, missed];
    const before = states.wanted;
    read([log], states);
    expect(states.wanted).toBeGreaterThan(before);
    const first = states.wanted;
    read([log], states);
    expect(states.wanted).toBe(first);
    expect(states.isTakenBack(toMissed(missed))).toBe(true);
  });
});

test('the states take no memory for orders whose payment was not missed', () => {
  const ORDERS = 50_000;
  const states = new OrderStates();
  states.begin();
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let number = 0; number < ORDERS; number++) {
    const orderId = `ord_${number}`;
    for (const status of [0, PAID]) {
      const one = { orderId, status, changedAt: number, sentAt: number, isMissed: false };
      states.add(toFound(one), number);
    }
  }
  collect();
  expect((process.memoryUsage().heapUsed - before) / ORDERS).toBeLessThan(20);
  expect(states.wanted).toBe(0);
});
