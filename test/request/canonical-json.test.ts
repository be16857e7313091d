import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../src/request/key.js';
import { runs } from '../support/tier.js';

fc.configureGlobal({ seed: 8785 });

test('JSON is written as by another implementation of RFC 8785', () => {
  const json = fc.jsonValue({ stringUnit: 'grapheme' });
  fc.assert(
    fc.property(json, (value) => {
      const written = canonicalJson(value);
      fc.pre(written !== undefined);
      expect(written).toBe(canonicalize(value));
    }),
    { numRuns: runs(2000) },
  );
});

// RFC 8785, 3.2.2 and 3.2.3.
test('the examples of RFC 8785 are written as in the RFC', () => {
  const numbers = '[333333333.33333329,4.50,2e-3,0.000000000000000000000000001,-0]';
  expect(canonicalJson(JSON.parse(numbers))).toBe('[333333333.3333333,4.5,0.002,1e-27,0]');
  const text = String.raw`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`;
  expect(canonicalJson(JSON.parse(text))).toBe(String.raw`"€$\u000f\nA'B\"\\\\\"/"`);
  const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
  const written = canonicalJson(Object.fromEntries(names.map((name) => [name, 0]))) ?? '';
  expect(Array.from(written.matchAll(/"([^"]+)"/g), ([, name]) => name)).toEqual([
    '\\r',
    '1',
    '\u0080',
    '\u00f6',
    '\u20ac',
    '\ud83d\ude00',
    '\ufb33',
  ]);
});

test('a name that objects inherit is an ordinary name', () => {
  const text = '{"__proto__":{"a":1},"constructor":2}';
  expect(canonicalJson(JSON.parse(text))).toBe(text);
});

test('two different lone surrogates stay different', () => {
  expect(canonicalJson(JSON.parse('"\\ud800"'))).toBe('"\\ud800"');
});

test.each(['9007199254740992', '-1e400', '{"a":[9007199254740993]}'])(
  '%s has no canonical form, because it may have lost digits',
  (text) => {
    expect(canonicalJson(JSON.parse(text))).toBeUndefined();
  },
);

test('any depth of nesting is supported', () => {
  const deep = `${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`;
  expect(canonicalJson(JSON.parse(deep))).toBe(deep);
});
