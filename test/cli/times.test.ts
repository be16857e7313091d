import { expect, test } from 'vitest';
import { toDuration, toSince } from '../../src/cli/times.js';

test.each([
  ['90s', 90_000],
  ['5m', 300_000],
  ['12h', 43_200_000],
  ['7d', 604_800_000],
])('the duration %s is %i milliseconds', (text, ms) => {
  expect([toDuration(text), toSince(text)]).toEqual([ms, ms]);
});
