import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diagnose } from '../../../src/cli/doctor/diagnose.js';
import { runs } from '../../support/tier.js';
import recorded from './recorded.json' with { type: 'json' };

const { body: sent } = recorded;

const secret = 'AAAA+b/c-secret-of-the-shop=';
const keys = {
  secrets: [{ name: 'OWN', secret }],
  apiKeys: [{ name: 'API_KEY', secret: 'sk_live_of-the-shop' }],
} as const;
const OFTEN = runs(10_000, 200);
const FULLY = runs(50, 4);

const hmac = (body: Uint8Array | string) => createHmac('sha512', secret).update(body).digest();

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

const anyBody = fc.oneof(
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((some) => Buffer.from(some)),
  fc.string().map((text) => Buffer.from(text)),
);

/** A signature that was made up. */
const madeUp = fc.tuple(
  anyBody,
  fc.oneof(
    bytes(64).map((some) => Buffer.from(some).toString('hex')),
    bytes(32).map((some) => Buffer.from(some).toString('base64')),
    fc.string(),
  ),
);

/** What was signed, with another price: no encoder does this. */
const otherPrice = fc
  .integer({ min: 0, max: 1_000_000 })
  .filter((cents) => cents !== 1990)
  .map((cents) => {
    const body = sent.replace('19.9', (cents / 100).toFixed(2));
    return [Buffer.from(body), hmac(sent).toString('hex')] as const;
  });

/** The signature of the body, or of what an encoder has made of it, of which a bit is not right. */
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

const nothingIsNamed = (mostHashed?: number) =>
  fc.property(fc.oneof(madeUp, otherPrice, bitOff), ([body, signature]) => {
    const effort = mostHashed === undefined ? {} : { mostHashed };
    return diagnose({ body, signature }, keys, effort).result === 'unexplained';
  });

test(`nothing is named on ${OFTEN} forged bodies`, { timeout: 300_000 }, () => {
  // Hashed is a part of what a command hashes: what is likely comes first.
  fc.assert(nothingIsNamed(200_000), { numRuns: OFTEN });
});

test(`nothing is named on ${FULLY} forged bodies that are looked into fully`, {
  timeout: 300_000,
}, () => {
  fc.assert(nothingIsNamed(), { numRuns: FULLY });
});

test('64 KB are looked into until 60 MB are hashed, and no further', () => {
  const orders = Array.from({ length: 420 }, (_, id) => ({ ...JSON.parse(sent), id }));
  const body = Buffer.from(JSON.stringify(orders));
  expect(body.length).toBeGreaterThan(64 * 1024);
  const signature = hmac('forged').toString('hex');
  const { result, ...effort } = diagnose({ body, signature }, keys);
  expect(result).toBe('unexplained');
  // Work is counted, not time. The limit is 60 MB, and some of what is tried is the same twice.
  expect(effort).toMatchObject({ partial: true, tried: expect.any(Number) });
  expect(Number('tried' in effort && effort.tried) * body.length).toBeLessThan(60_000_000);
});
