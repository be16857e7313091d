import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decode, encode, toUrl, toVerb } from '../../../src/stores/durable-object/frames.js';

const field = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.constant(null),
  fc.uint8Array({ maxLength: 300 }),
);

test('values and rows arrive unchanged, with all bytes', () => {
  const rows = fc.array(fc.dictionary(fc.string(), field, { noNullPrototype: true }));
  fc.assert(
    fc.property(fc.array(field), rows, (values, found) => {
      expect(decode(encode(values).buffer)).toEqual(values);
      expect(decode(encode(found).buffer)).toEqual(found);
    }),
  );
});

test('a body takes no more bytes than it has', () => {
  const body = new Uint8Array(1_000_000).fill(200);
  expect(encode(['key', body]).length).toBeLessThan(1_000_100);
});

test('a Buffer, an ArrayBuffer and a part of an array are encoded as bytes', () => {
  const bytes = Uint8Array.of(1, 2, 3);
  const part = Uint8Array.of(0, 1, 2, 3, 4).subarray(1, 4);
  const sent = [Buffer.from(bytes), bytes.buffer, part, { body: Buffer.from(bytes) }];
  const received = [bytes, bytes, bytes, { body: bytes }];
  expect(decode(encode(sent).buffer)).toEqual(received);
});

test.each([
  ['nothing', 0],
  ['half of its length', 2],
  ['half of its JSON', 10],
  ['half of its bytes', 30],
])(
  'a frame that was cut off after %s is rejected, and the error contains none of its data',
  (_, end) => {
    const frame = encode(['a secret', new Uint8Array(20)]).buffer.slice(0, end);
    expect(() => decode(frame)).toThrow(/^This is not a frame of WebhookDeliveries\.$/);
  },
);

test('a verb is found in its own URL, and in no other', () => {
  expect(toVerb(toUrl('claim'))).toBe('claim');
  expect(toVerb(toUrl('claim').replace('/1/', '/2/'))).toBe('');
});
