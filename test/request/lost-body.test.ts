import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findLoss } from '../../src/request/lost-body.js';
import { runs } from '../support/tier.js';

const CUT = /ends in the middle of a JSON value/;
const lossOf = (text: string) => findLoss(Buffer.from(text)) ?? 'whole';

describe('a body', () => {
  test.each(['{"a":{"b":1}', '[1,{"a":"}"}', ' {"a":"\\"}', '{"a":"é', '"a', '{', '["'])(
    'without its end counts as cut: %s',
    (text) => {
      expect(lossOf(text)).toMatch(CUT);
    },
  );

  test.each(['{}', ' [1,"]"] ', '{"a":"\\\\"}', 'a={"b"', 'id=1&name="x', '\ufeff{', '1', '}{'])(
    'that is complete, or is not JSON, does not count as cut: %s',
    (text) => {
      expect(lossOf(text)).toBe('whole');
    },
  );

  test('of an object counts as cut only if its end is missing', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.json()), fc.nat(), (object, at) => {
        const text = JSON.stringify(object, null, 1);
        const bytes = Buffer.from(text);
        expect(findLoss(bytes)).toBeUndefined();
        expect(findLoss(bytes.subarray(0, 1 + (at % (bytes.length - 1))))).toMatch(CUT);
      }),
      { numRuns: runs(1_000) },
    );
  });
});
