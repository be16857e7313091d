import { afterEach, expect, test, vi } from 'vitest';
import { fromBase64, toBase64 } from '../../src/stores/base64.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each([0, 1, 2, 3, 4, 5, 255, 256, 70_000])('%i bytes survive, on any runtime', (length) => {
  // As part of a larger buffer, as bodies are.
  const bytes = Uint8Array.from({ length: length + 9 }, (_, index) => (index * 7) % 256).subarray(
    9,
  );
  const expected = Buffer.from(bytes).toString('base64');
  expect(toBase64(bytes)).toBe(expected);
  vi.stubGlobal('Buffer', undefined);
  expect(toBase64(bytes)).toBe(expected);
  expect(fromBase64(expected)).toEqual(bytes);
});
