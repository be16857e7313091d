import fc from 'fast-check';
import type { Recovered } from 'storefront-webhooks/recovery';
import { describe, expect, test } from 'vitest';
import { createPrinter } from '../../../src/cli/printer.js';
import { addDecimals } from '../../../src/cli/recover/decimals.js';
import { tableLines } from '../../../src/cli/recover/lines.js';
import { totalByCurrency, totalByOrder } from '../../../src/cli/recover/totals.js';
import { moneyOf } from '../../../src/recovery/log-entry.js';

function recovered(changes: Partial<Recovered>): Recovered {
  const about = { id: 'whl_1', event: 'order:paid', recordId: 'ord_1', sentAt: new Date(0) };
  const worth = { value: '9.90', currency: 'EUR' };
  return { ...about, ...worth, reason: 'refused', outcome: 'handled', ...changes };
}

describe('the sum of decimals', () => {
  test.each([
    [['0.1', '0.2'], '0.3'],
    [['9.90', '9.9', '10'], '29.80'],
    [['-1.05', '1'], '-0.05'],
    [['0.00000001', '1234567890123456789'], '1234567890123456789.00000001'],
    [[], '0'],
    [['9.90', 'much'], undefined],
    [['1e21'], undefined],
  ])('of %j is %s', (decimals, sum) => {
    expect(addDecimals(decimals)).toBe(sum);
  });

  test('is exact, in whatever order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1e9, max: 1e9 })), (cents) => {
        const decimals = cents.map((one) => {
          const digits = `${Math.abs(one)}`.padStart(3, '0');
          return `${one < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
        });
        const total = cents.reduce((sum, one) => sum + BigInt(one), 0n);
        expect(addDecimals(decimals.toReversed())?.replace('.', '') ?? '').toSatisfy(
          (digits: string) => BigInt(digits) === total,
        );
      }),
    );
  });
});

test('deliveries without a handler do not count as missed', () => {
  const orders = totalByOrder([recovered({}), recovered({ id: 'whl_2', outcome: 'ignored' })]);
  expect(orders).toMatchObject([{ missed: 1, doneNow: 1 }]);
  expect(totalByOrder([recovered({ outcome: 'ignored' })])).toEqual([]);
});

test('an order counts once in its currency, with its latest value', () => {
  const orders = totalByOrder([
    recovered({}),
    recovered({ id: 'whl_2', event: 'order:updated', value: '8.00', outcome: 'failed' }),
    recovered({ id: 'whl_3', recordId: 'ord_2', outcome: 'duplicate' }),
    recovered({ id: 'whl_4', recordId: 'ord_3', currency: 'USD', outcome: 'settled' }),
    recovered({ id: 'whl_5', recordId: undefined, value: undefined, currency: undefined }),
  ]);
  expect(orders[0]).toEqual({
    id: 'ord_1',
    missed: 2,
    doneNow: 1,
    doneBefore: 0,
    value: '8.00',
    currency: 'EUR',
  });
  expect(totalByCurrency(orders)).toEqual([
    { currency: 'EUR', orders: 2, missed: 3, doneNow: 1, doneBefore: 1, value: '17.90' },
    { currency: 'USD', orders: 1, missed: 1, doneNow: 0, doneBefore: 1, value: '9.90' },
    { currency: undefined, orders: 1, missed: 1, doneNow: 1, doneBefore: 0, value: undefined },
  ]);
});

test('a small number in a payload counts in the sum, and a value that is no decimal ends it', () => {
  const sumOf = (...values: unknown[]) => {
    const bought = values.map((value, at) =>
      recovered({ recordId: `ord_${at}`, ...moneyOf({ value, currency: 'BTC' }) }),
    );
    return totalByCurrency(totalByOrder(bought)).map(({ value }) => value);
  };
  expect(sumOf(0.0000005, 0.25, '0.10', '2e-8')).toEqual(['0.35000052']);
  expect(sumOf('0.25', 'free')).toEqual([undefined]);
  expect(sumOf(0.25, JSON.parse('1e400'))).toEqual([undefined]);
  expect(sumOf('0.25', null)).toEqual(['0.25']);
});

const out = { isTTY: false, write: () => true };
const printer = createPrinter({ stdout: out, stderr: out, env: { NO_COLOR: '1' } }, () => false);

test('each of several sums names its currency', () => {
  const orders = totalByOrder([
    recovered({}),
    recovered({ id: 'whl_5', recordId: 'fbk_1', value: undefined, currency: undefined }),
  ]);
  const namesOf = (some: typeof orders) =>
    tableLines(some, totalByCurrency(some), printer)
      .slice(2 + some.length)
      .map((line) => line.replace(/ {2}.*/, ''));
  expect(namesOf(orders)).toEqual(['1 in EUR', '1 without money']);
  expect(namesOf(orders.slice(0, 1))).toEqual(['1 in all']);
});
