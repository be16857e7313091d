import type { Finding } from 'storefront-webhooks/recovery';
import { describe, expect, test } from 'vitest';
import { toCsv } from '../../src/cli/csv.js';

const cellsOf = (finding: Partial<Finding>) =>
  toCsv([{ orderId: 'ord_1', kind: 'not_delivered', ...finding } as Finding]).split('\r\n')[1];

describe('a cell of a table', () => {
  // https://owasp.org/www-community/attacks/CSV_Injection
  test.each(['=1+1', '+1', '@SUM(A1)', '\tx', '-x', "-2+3+cmd|' /C calc'!A0", '-1e5', '-1 '])(
    'that a spreadsheet would run begins with an apostrophe: %j',
    (orderId) => {
      expect(cellsOf({ orderId })).toBe(`'${orderId},not_delivered,,,,,,`);
      expect(cellsOf({ status: orderId })).toBe(`ord_1,not_delivered,,,'${orderId},,,`);
    },
  );

  test('with a number stays a number, even a negative one', () => {
    expect(cellsOf({ times: 2, status: -1 })).toBe('ord_1,not_delivered,,2,-1,,,');
    expect(cellsOf({ value: '-9.90' })).toBe('ord_1,not_delivered,,,,-9.90,,');
  });

  test('that contains control characters is escaped', () => {
    expect(cellsOf({ orderId: 'a\u001b[2J\u009b1m\u202eb' })).toMatch(
      /^a\\u\{1b\}\[2J\\u\{9b\}1m\\u\{202e\}b,/,
    );
  });

  test('with a comma, a quote or a line break is quoted', () => {
    expect(cellsOf({ orderId: 'a,b' })).toMatch(/^"a,b",/);
    expect(cellsOf({ orderId: 'a"b' })).toMatch(/^"a""b",/);
    expect(toCsv([{ orderId: 'a\nb', kind: 'not_delivered' } as Finding])).toContain('"a\nb",');
  });
});
