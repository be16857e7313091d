import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal, isSameAmount } from '../../src/schemas/values.js';
import { runs } from '../support/tier.js';

fc.configureGlobal({ seed: 754 });

const DECIMAL = /^-?\d+(\.\d+)?$/;

function read(value: unknown): string | undefined {
  return decimal.safeParse(value).data;
}

/** Returns the significant digits, without sign, point, exponent and outer zeros. */
function digitsOf(text: string): string {
  return text
    .replace(/e.*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
}

describe('a number', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });

  test('becomes decimal text that parses back to the same number, in the fewest digits', () => {
    fc.assert(
      fc.property(fc.oneof(number, fc.integer(), fc.maxSafeInteger()), (value) => {
        const text = read(value) ?? '';
        expect(text).toMatch(DECIMAL);
        // Add 0, because -0 has no text of its own.
        expect(Number(text)).toBe(value + 0);
        expect(digitsOf(text)).toBe(digitsOf(String(value)));
      }),
      { numRuns: runs(1000) },
    );
  });

  test.each([
    [0, '0'],
    [-0, '0'],
    [10.0, '10'],
    [19.9, '19.9'],
    [-19.9, '-19.9'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1e21, '1000000000000000000000'],
    [1.5e21, '1500000000000000000000'],
    [1e-7, '0.0000001'],
    [-1.25e-9, '-0.00000000125'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [Number.MIN_VALUE, `0.${'0'.repeat(323)}5`],
    [Number.MAX_VALUE, `17976931348623157${'0'.repeat(292)}`],
  ])('%d becomes "%s"', (value, text) => {
    expect(read(value)).toBe(text);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    '%d is rejected',
    (value) => {
      expect(decimal.safeParse(value)).toMatchObject({ success: false });
    },
  );
});

describe('text', () => {
  test('stays unchanged', () => {
    const digits = fc.stringMatching(/^-?\d{1,40}(\.\d{1,40})?$/);
    fc.assert(
      fc.property(digits, (text) => {
        expect(read(text)).toBe(text);
      }),
    );
  });

  test.each(['0.10', '10.00', '007', '-0', '-0.00', '123456789012345678901234567890.123456789'])(
    '"%s" stays unchanged',
    (text) => {
      expect(read(text)).toBe(text);
    },
  );

  test('with an exponent is rewritten without it, digit by digit', () => {
    const parts = fc.tuple(
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
      fc.nat({ max: 40 }),
      fc.constantFrom('e', 'E', 'e+', 'E+'),
    );
    fc.assert(
      fc.property(parts, fc.constantFrom('', '-'), ([whole, exponent, e], sign) => {
        expect(BigInt(read(`${sign}${whole}${e}${exponent}`) ?? -1)).toBe(
          BigInt(`${sign}${whole * 10n ** BigInt(exponent)}`),
        );
      }),
    );
  });

  test('with an exponent means the same number afterwards', () => {
    const parts = fc.tuple(
      fc.stringMatching(/^-?\d{1,6}$/),
      fc.stringMatching(/^\d{1,8}$/),
      fc.integer({ min: -300, max: 290 }),
    );
    fc.assert(
      fc.property(parts, ([whole, fraction, exponent]) => {
        const text = `${whole}.${fraction}e${exponent}`;
        const plain = read(text) ?? '';
        expect(plain).toMatch(DECIMAL);
        expect(Number(plain)).toBe(Number(text));
        expect(plain.startsWith('-')).toBe(text.startsWith('-'));
      }),
      { numRuns: runs(1000) },
    );
  });

  test.each([
    ['1e3', '1000'],
    ['1.5E+3', '1500'],
    ['12.34e-1', '1.234'],
    ['1.25e-3', '0.00125'],
    ['-5e-1', '-0.5'],
    ['1.5e1', '15'],
    ['7e0', '7'],
  ])('"%s" becomes "%s"', (text, plain) => {
    expect(read(text)).toBe(plain);
  });

  test.each([
    'abc',
    '',
    ' ',
    '1,5',
    '1.5.5',
    '1.',
    '.5',
    '+1',
    '--1',
    '- 1',
    ' 1',
    '1 ',
    '1\n',
    '0x10',
    '1_000',
    '1e',
    'e5',
    '1e9999',
    '1e1.5',
    '1e--5',
    'NaN',
    'Infinity',
    '-Infinity',
    '∞',
    '１２',
    '٣',
    '1n',
    '1e5e5',
    '€5',
  ])('%j is rejected', (text) => {
    expect(decimal.safeParse(text)).toMatchObject({
      success: false,
      error: { issues: [{ message: 'expected decimal' }] },
    });
  });

  test('is read at any length', () => {
    const long = '9'.repeat(1_000_000);
    expect(read(long)).toBe(long);
    for (const odd of [`${long}x`, '1.'.repeat(500_000), `1e${long}`, `${long}e1234`]) {
      expect(read(odd)).toBeUndefined();
    }
  });
});

describe('two amounts', () => {
  test.each([
    ['10', '10.00', true],
    ['010.50', 10.5, true],
    ['-0.10', '-0.1', true],
    ['0', '0.000', true],
    ['1e-7', '0.0000001', true],
    ['10', '10.01', false],
    ['-1', '1', false],
    ['1.05', '1.5', false],
    ['100', '1', false],
    ['ten', 'ten', false],
  ])('%j and %j are the same: %s', (one, other, isSame) => {
    expect(isSameAmount(one, other)).toBe(isSame);
    expect(isSameAmount(other, one)).toBe(isSame);
  });

  test('are compared at any length', () => {
    const zeros = '0'.repeat(100_000);
    expect(isSameAmount(`0.${zeros}1`, '0')).toBe(false);
    expect(isSameAmount(`0.${zeros}10`, `${zeros}.${zeros}1${zeros}`)).toBe(true);
  });
});

test.each([[undefined], [null], [true], [[]], [['1']], [{}], [1n], [new Date(0)], [Object('1')]])(
  'a value that is neither text nor a number is rejected: %s',
  (value) => {
    expect(decimal.safeParse(value)).toMatchObject({ success: false });
  },
);
