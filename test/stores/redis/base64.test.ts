import { expect, test } from 'vitest';
import { fromBase64, toBase64 } from '../../../src/stores/redis/base64.js';

test.each([0, 1, 2, 3, 4, 5, 255, 256, 70_000])('%i bytes survive', (length) => {
  const bytes = Uint8Array.from({ length }, (_, index) => (index * 7) % 256);
  expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
  expect(fromBase64(toBase64(bytes))).toEqual(bytes);
});
