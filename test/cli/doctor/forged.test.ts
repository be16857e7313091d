import { createHmac, Hash, Hmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { diagnose } from '../../../src/cli/doctor/diagnose.js';
import { isNightly, runs } from '../../support/tier.js';
import recorded from './recorded.json' with { type: 'json' };

const { body: sent } = recorded;

const secret = 'AAAA+b/c-secret-of-the-shop=';
const keys = {
  secrets: [{ name: 'OWN', secret }],
  apiKeys: [{ name: 'API_KEY', secret: 'sk_live_of-the-shop' }],
} as const;
const OFTEN = runs(10_000, 60);
const FULLY = runs(50, 1);

const hmac = (body: Uint8Array | string) => createHmac('sha512', secret).update(body).digest();

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

const anyBody = fc.oneof(
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((some) => Buffer.from(some)),
  fc.string().map((text) => Buffer.from(text)),
  // The names of Object.prototype, which a lookup table must not find.
  fc
    .constantFrom(...Object.getOwnPropertyNames(Object.prototype))
    .map((name) => Buffer.from(JSON.stringify(name))),
);

/** Random bodies with random signatures. */
const madeUp = fc.tuple(
  anyBody,
  fc.oneof(
    bytes(64).map((some) => Buffer.from(some).toString('hex')),
    bytes(32).map((some) => Buffer.from(some).toString('base64')),
    fc.string(),
  ),
);

/** The signed body with another price, which no encoder would write. */
const otherPrice = fc
  .integer({ min: 0, max: 1_000_000 })
  .filter((cents) => cents !== 1990)
  .map((cents) => {
    const body = sent.replace('19.9', (cents / 100).toFixed(2));
    return [Buffer.from(body), hmac(sent).toString('hex')] as const;
  });

/** The signature of a body, possibly with another ending, with one bit flipped. */
const bitOff = fc
  .tuple(
    anyBody,
    fc.constantFrom('', '\n', ' '),
    fc.constantFrom(16, 20, 32, 48, 64),
    fc.nat(7),
    fc.constantFrom<BufferEncoding>('hex', 'base64'),
  )
  .map(([body, end, length, bit, encoding]) => {
    const signature = hmac(Buffer.concat([body, Buffer.from(end)])).subarray(0, length);
    signature.writeUInt8(signature.readUInt8(length - 1) ^ (1 << bit), length - 1);
    return [body, signature.toString(encoding)] as const;
  });

const nothingIsNamed = (mostWork?: number) =>
  fc.property(fc.oneof(madeUp, otherPrice, bitOff), ([body, signature]) => {
    const effort = mostWork === undefined ? {} : { mostWork };
    return diagnose({ body, signature }, keys, effort).result === 'unexplained';
  });

/** All runs take many minutes. */
const LIMIT = isNightly ? { timeout: 900_000 } : {};

test(`the doctor names no cause for ${OFTEN} forged bodies`, LIMIT, () => {
  // Less work than a command does: the likely causes come first.
  fc.assert(nothingIsNamed(5_000_000), { numRuns: OFTEN });
});

test(`the doctor names no cause for ${FULLY} forged bodies in a complete search`, LIMIT, () => {
  fc.assert(nothingIsNamed(), { numRuns: FULLY });
});

test('the search in a body of 64 KB stops after about 100 MB of hashing', () => {
  const orders = Array.from({ length: 420 }, (_, id) => ({ ...JSON.parse(sent), id }));
  const body = Buffer.from(JSON.stringify(orders));
  expect(body.length).toBeGreaterThan(64 * 1024);
  const signature = hmac('forged').toString('hex');
  const hashed = countHashedBytes();
  expect(diagnose({ body, signature }, keys)).toMatchObject({
    result: 'unexplained',
    notTried: expect.arrayContaining(['several changes of the JSON at once']),
  });
  expect(hashed()).toBeGreaterThan(50_000_000);
  expect(hashed()).toBeLessThan(200_000_000);
});

/** Counts the bytes that node:crypto hashes from now on. A machine may take any time for them. */
function countHashedBytes(): () => number {
  let count = 0;
  for (const { prototype } of [Hash, Hmac]) {
    const { update } = prototype;
    prototype.update = new Proxy(update, {
      apply(real, hash, args) {
        count += Buffer.byteLength(args[0]);
        return Reflect.apply(real, hash, args);
      },
    });
    onTestFinished(() => {
      prototype.update = update;
    });
  }
  return () => count;
}
