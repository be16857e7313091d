import { afterEach, expect, test, vi } from 'vitest';
import { fromBase64, toBase64 } from '../../src/runtime/base64.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each([0, 1, 2, 3, 4, 5, 255, 256, 70_000])(
  '%i bytes survive a round trip on any runtime',
  (length) => {
    // Part of a larger buffer, as bodies are.
    const bytes = Uint8Array.from({ length: length + 9 }, (_, index) => (index * 7) % 256).subarray(
      9,
    );
    const expected = Buffer.from(bytes).toString('base64');
    expect(toBase64(bytes)).toBe(expected);
    expect(fromBase64(expected)).toStrictEqual(new Uint8Array(bytes));
    vi.stubGlobal('Buffer', undefined);
    expect(toBase64(bytes)).toBe(expected);
    expect(fromBase64(expected)).toEqual(bytes);
  },
);

test('a large body is decoded by the runtime itself if it can', () => {
  const bytes = new Uint8Array(1024 * 1024).fill(7);
  const text = toBase64(bytes);
  // atob would be slow: it returns a text whose characters have to be read one by one.
  vi.stubGlobal('atob', undefined);
  expect(Buffer.compare(fromBase64(text), bytes)).toBe(0);
});
