import crypto from 'node:crypto';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { UsageError, verifySignature } from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sha2 as used } from '../../src/runtime/hashes.js';
import { portableSha2 } from '../../src/runtime/hashes.portable.js';
import { nativeSha2, type Sha2 } from '../../src/runtime/sha2.js';
import { RFC_4231 } from '../adapters/apps/inside/rfc4231.js';
import { runs } from '../support/tier.js';

const settings = fc.readConfigureGlobal();
fc.configureGlobal({ ...settings, seed: 4231 });
afterAll(() => fc.configureGlobal(settings));
afterEach(() => void vi.restoreAllMocks());

const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Makes `verifySignature` and `sign` hash as on a runtime with this backend, until the test ends. */
function hashWith(backend: Sha2): void {
  vi.spyOn(used, 'sha256').mockImplementation(backend.sha256);
  vi.spyOn(used, 'hmacSha512').mockImplementation(backend.hmacSha512);
  vi.spyOn(used, 'equal').mockImplementation(backend.equal);
}

const { hash: _, ...cryptoWithoutHash } = crypto;
const BACKENDS = {
  native: nativeSha2(crypto),
  'older native': nativeSha2(cryptoWithoutHash),
  portable: portableSha2,
};
const backends = Object.entries(BACKENDS).map(([name, sha2]) => ({ name, sha2 }));

const SECRET = 'a secret for tests';
const body = fc.uint8Array({ maxLength: 300 });
const key = fc
  .uint8Array({ minLength: 1, maxLength: 200 })
  .filter((bytes) => bytes.some((byte) => byte !== 0));

function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
}

const bitOf = (bytes: Uint8Array) => fc.nat({ max: bytes.length * 8 - 1 });

describe.each(backends)('with the $name hashing', ({ sha2 }) => {
  beforeEach(() => hashWith(sha2));

  test.each(RFC_4231)('RFC 4231 test case %s holds', (_, key, data, mac) => {
    expect(crypto.createHmac('sha512', key).update(data).digest('hex')).toBe(mac);
    expect(toHex(sha2.hmacSha512(key, data))).toBe(mac);
    expect(sign(data, key)).toBe(mac);
    expect(verifySignature(data, mac, key)).toBe(true);
  });

  test('a signed body verifies, with its signature in upper or lower case', () => {
    const cases = fc.array(fc.boolean(), { minLength: 128, maxLength: 128 });
    fc.assert(
      fc.property(body, key, cases, (body, key, upper) => {
        const signature = sign(body, key);
        expect(signature).toMatch(/^[0-9a-f]{128}$/);
        const mixed = [...signature].map((digit, i) => (upper[i] ? digit.toUpperCase() : digit));
        expect(verifySignature(body, mixed.join(''), key)).toBe(true);
      }),
    );
  });

  test('a change of any bit of the body is rejected', () => {
    const changed = body
      .filter(({ length }) => length > 0)
      .chain((body) => fc.tuple(fc.constant(body), bitOf(body)));
    fc.assert(
      fc.property(changed, key, ([body, bit], key) => {
        expect(verifySignature(flipBit(body, bit), sign(body, key), key)).toBe(false);
      }),
    );
  });

  test('a change of any bit of the signature is rejected', () => {
    const signature = hex(sign('{"id":"ord_1"}', SECRET));
    for (let bit = 0; bit < signature.length * 8; bit++) {
      const changed = toHex(flipBit(signature, bit));
      expect(verifySignature('{"id":"ord_1"}', changed, SECRET)).toBe(false);
    }
  });

  test('a change of any bit of the secret is rejected', () => {
    const changed = key.chain((key) => fc.tuple(fc.constant(key), bitOf(key)));
    fc.assert(
      fc.property(body, changed, (body, [key, bit]) => {
        const other = flipBit(key, bit);
        fc.pre(other.some((byte) => byte !== 0));
        expect(verifySignature(body, sign(body, key), other)).toBe(false);
      }),
    );
  });

  test('a text as a body or a secret means its UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const secret = `${SECRET} ключ ${text}`;
        const signature = sign(text, secret);
        const bytes = new TextEncoder().encode(text);
        expect(verifySignature(bytes, signature, new TextEncoder().encode(secret))).toBe(true);
      }),
    );
  });

  test('bytes of another realm are accepted as a body and as a secret', () => {
    const [body, secret] = runInNewContext('[Uint8Array.of(123, 125), Uint8Array.of(1, 2, 3)]');
    expect(body).not.toBeInstanceOf(Uint8Array);
    expect(verifySignature(body, sign('{}', Uint8Array.of(1, 2, 3)), secret)).toBe(true);
  });

  test('any of several secrets may match, at any position', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { minLength: 1, maxLength: 4, selector: toHex }), (keys) => {
        for (const key of keys) {
          expect(verifySignature('{}', sign('{}', key), keys)).toBe(true);
          const others = keys.filter((other) => other !== key);
          if (others.length > 0) expect(verifySignature('{}', sign('{}', key), others)).toBe(false);
        }
      }),
    );
  });

  test('two byte strings are equal only if their lengths and all bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        expect(sha2.equal(a, b)).toBe(toHex(a) === toHex(b));
        expect(sha2.equal(a, a.slice())).toBe(true);
        expect(sha2.equal(a, Uint8Array.of(...a, 0))).toBe(false);
        expect(sha2.equal(Uint8Array.of(...a, 0), a)).toBe(false);
        for (let bit = 0; bit < a.length * 8; bit++)
          expect(sha2.equal(a, flipBit(a, bit))).toBe(false);
      }),
    );
  });
});

describe('all ways of hashing agree', () => {
  const { portable, ...others } = BACKENDS;

  function expectAgreement(key: Uint8Array | string, message: Uint8Array): void {
    const mac = toHex(portable.hmacSha512(key, message));
    for (const other of Object.values(others)) {
      expect(toHex(other.hmacSha512(key, message))).toBe(mac);
      expect(other.sha256(message)).toBe(portable.sha256(message));
      expect(other.sha256(key)).toBe(portable.sha256(key));
    }
  }

  test('on any bytes and keys', () => {
    const anyKey = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'grapheme' }));
    fc.assert(fc.property(anyKey, fc.uint8Array({ maxLength: 500 }), expectAgreement));
  });

  test('on keys around the length of a block, and messages around the boundary lengths', () => {
    const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => i * 31 + length);
    for (const keyLength of [1, 63, 64, 65, 127, 128, 129, 256]) {
      for (const length of [0, 1, 111, 112, 127, 128, 32_767, 32_768, 32_769, 70_000, 3]) {
        expectAgreement(bytes(keyLength), bytes(length));
      }
    }
  });

  test('after any earlier keys', () => {
    const long = 'k'.repeat(200);
    const keys = ['first', 'second', long, Buffer.from('first'), Buffer.from(long), 'first'];
    const step = fc.tuple(fc.constantFrom(...keys), fc.uint8Array({ maxLength: 40 }));
    fc.assert(
      fc.property(fc.array(step, { minLength: 2 }), (steps) => {
        for (const [key, message] of steps) expectAgreement(key, message);
      }),
    );
  });

  test('on text that is not valid Unicode', () => {
    expectAgreement('a lone \ud800 surrogate', Uint8Array.of(1));
  });
});

test("changing a key's bytes changes the key", () => {
  for (const { hmacSha512 } of Object.values(BACKENDS)) {
    const key = Uint8Array.of(1, 2, 3);
    hmacSha512(key, Uint8Array.of());
    key[0] = 9;
    expect(toHex(hmacSha512(key, Uint8Array.of()))).toBe(
      crypto.createHmac('sha512', Uint8Array.of(9, 2, 3)).digest('hex'),
    );
  }
});

test('a result is not overwritten by the next one', () => {
  for (const { hmacSha512 } of Object.values(BACKENDS)) {
    const first = hmacSha512('key', Uint8Array.of(1));
    const copy = toHex(first);
    hmacSha512('another', Uint8Array.of(2, 3));
    expect(toHex(first)).toBe(copy);
  }
});

test('[spec: Authentication] constant-time comparison: every secret is tried, so that the time does not reveal the matching one', () => {
  const hmacSha512 = vi.fn(portableSha2.hmacSha512);
  hashWith({ ...portableSha2, hmacSha512 });
  const signature = sign('{}', 'first');
  hmacSha512.mockClear();
  expect(verifySignature('{}', signature, ['first', 'second', 'third'])).toBe(true);
  expect(hmacSha512.mock.calls.map(([key]) => key)).toEqual(['first', 'second', 'third']);
});

describe.each(backends)('a malformed signature, with the $name hashing', ({ sha2 }) => {
  beforeEach(() => hashWith(sha2));

  const valid = toHex(sha2.hmacSha512(SECRET, Buffer.from('{}')));
  const spoil = (at: number, insert: string, drop = 1) =>
    valid.slice(0, at) + insert + valid.slice(at + drop);
  const at = fc.nat({ max: 127 });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['empty text', ''],
    ['a trailing line end', `${valid}\n`],
    ['a leading space', ` ${valid}`],
    ['a prefix', `sha512=${valid}`],
    ['a prefix of hexadecimal', `0x${valid}`],
    ['one digit too few', valid.slice(1)],
    ['one digit too many', `${valid}0`],
    ['half of it', valid.slice(0, 64)],
    ['it twice', valid + valid],
    ['a signature twice, joined as headers are', `${valid}, ${valid}`],
    ['full-width digits', valid.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + +digit))],
    [
      'letters that fold to ASCII in one byte',
      valid.replace(/[a-f]/g, (c) => String.fromCharCode(0x100 + c.charCodeAt(0))),
    ],
    ['a dotted İ', spoil(5, 'İ')],
    ['a dotless ı', spoil(5, 'ı')],
    ['a Kelvin sign', spoil(5, '\u212a')],
    ['a NUL', spoil(127, '\0')],
    ['Base64', Buffer.from(valid, 'hex').toString('base64')],
  ])('%s is rejected', (_, signature) => {
    expect(verifySignature('{}', signature, SECRET)).toBe(false);
  });

  test('any text but 128 hexadecimal digits is rejected without throwing', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme', minLength: 120, maxLength: 136 }),
      fc
        .tuple(at, fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }))
        .map(([index, text]) => spoil(index, text)),
      fc
        .tuple(at, fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }))
        .map(([index, text]) => spoil(index, text, 0)),
      at.map((index) => spoil(index, '')),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(!/^[0-9a-fA-F]{128}$/.test(text));
        expect(verifySignature('{}', text, SECRET)).toBe(false);
      }),
      { numRuns: runs(500) },
    );
  });

  test('a header that is not text is rejected', () => {
    for (const signature of [7, true, {}, [valid], Object(valid)]) {
      expect(Reflect.apply(verifySignature, undefined, ['{}', signature, SECRET])).toBe(false);
    }
  });
});

describe('a mistake of the program throws a TypeError with advice', () => {
  const mac = '0'.repeat(128);

  /** Calls as JavaScript does, because the types reject most of these. Returns the thrown error. */
  function thrownBy(target: typeof sign | typeof verifySignature, ...args: unknown[]): UsageError {
    try {
      Reflect.apply(target, undefined, args);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      if (error instanceof UsageError) return error;
    }
    throw new Error('expected a UsageError');
  }

  test.each([
    ['a parsed object', { id: 'ord_1' }, 'an object'],
    ['a parsed array', [1], 'an array'],
    ['a number', 7, 'number'],
    ['null', null, 'null'],
    ['nothing', undefined, 'undefined'],
    ['an ArrayBuffer', new ArrayBuffer(2), 'an object'],
    ['sixteen-bit numbers', new Uint16Array(2), 'an object'],
    ['an object that only claims to be bytes', { [Symbol.toStringTag]: 'Uint8Array' }, 'an object'],
  ])('for a body that is %s', (_, rawBody, named) => {
    for (const error of [
      thrownBy(verifySignature, rawBody, mac, SECRET),
      thrownBy(verifySignature, rawBody, undefined, SECRET),
      thrownBy(sign, rawBody, SECRET),
    ]) {
      expect(error.code).toBe('body_not_bytes');
      expect(error.message).toContain(`but got ${named}`);
      expect(error.message).toContain('express.raw(');
      expect(error.message).not.toContain(SECRET);
    }
    expect(thrownBy(verifySignature, rawBody, mac, SECRET).message).toMatch(/^verifySignature /);
    expect(thrownBy(sign, rawBody, SECRET).message).toMatch(/^sign /);
  });

  test.each([
    ['empty', ''],
    ['blank', ' \t\n'],
    ['only NULs', '\0\0'],
    ['NULs and blanks', ' \0 '],
    ['no bytes', new Uint8Array()],
    ['bytes that are all zero', new Uint8Array(16)],
    ['undefined', undefined],
    ['null', null],
    ['a number', 42],
    ['an object', { secret: SECRET }],
    ['a text object', Object(SECRET)],
  ])('for a secret that is %s', (_, secret) => {
    for (const error of [
      thrownBy(verifySignature, '{}', mac, secret),
      thrownBy(verifySignature, '{}', undefined, secret),
      thrownBy(verifySignature, '{}', mac, [SECRET, secret]),
      thrownBy(sign, '{}', secret),
    ]) {
      expect(error.code).toBe('secret_invalid');
      expect(error.message).toContain('process.env.WEBHOOK_SECRET');
      expect(error.message).not.toContain(SECRET);
    }
  });

  test('for an empty list of secrets', () => {
    const { code, message } = thrownBy(verifySignature, '{}', mac, []);
    expect(code).toBe('secret_invalid');
    expect(message).toContain('the list of secrets is empty');
  });

  test('for a nested list of secrets', () => {
    const { code, message } = thrownBy(verifySignature, '{}', mac, [[SECRET]]);
    expect(code).toBe('secret_invalid');
    expect(message).not.toContain(SECRET);
  });

  test('for a list of secrets when it signs', () => {
    expect(thrownBy(sign, '{}', [SECRET]).message).toContain('it is an array');
  });
});

test('a secret may contain NULs and blanks beside other bytes', () => {
  for (const secret of ['a\0', ' a', Uint8Array.of(0, 1, 0)]) {
    expect(verifySignature('{}', sign('{}', secret), secret)).toBe(true);
  }
});
