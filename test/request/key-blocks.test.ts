import { createHmac, hash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyBlocks } from '../../src/runtime/key-blocks.js';
import { runs } from '../support/tier.js';

const keys = fc.uint8Array({ minLength: 1, maxLength: 128 });
/** Texts below, at and above the longest one that the prepared blocks take. */
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.integer({ min: 4_000, max: 4_200 }).map((length) => 'é'.repeat(length / 2)),
  fc.string({ unit: fc.constantFrom('a', '€', '\ud83d', '\ude00') }),
);
const times = runs(1_000_000, 2_000);

describe('the HMAC over prepared key blocks', () => {
  test(`equals the platform's for ${times} keys and texts`, { timeout: 600_000 }, () => {
    const property = fc.property(keys, fc.array(texts, { maxLength: 3 }), (key, messages) => {
      const platform = (text: string) => createHmac('sha512', key).update(text).digest('hex');
      // One signer for all of them: no text leaves anything behind for the next.
      const sign = keyBlocks(key, hash, platform);
      for (const text of messages) if (sign(text) !== platform(text)) return false;
      return true;
    });
    fc.assert(property, { numRuns: times });
  });

  test('leaves texts above 4 KB to the platform', () => {
    const key = Buffer.alloc(64, 7);
    const sign = keyBlocks(key, hash, () => 'the platform');
    expect(sign('a'.repeat(4096))).toHaveLength(128);
    expect(sign('a'.repeat(4097))).toBe('the platform');
    expect(sign('€'.repeat(1366))).toBe('the platform');
  });
});
