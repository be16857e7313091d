import { isJsonObject } from '../../schemas/values.js';
import { type Candidate, type CauseCode, type Step, step } from './cause.js';
import { readUtf8 } from './charsets.js';
import { decodings, unquoted } from './encodings.js';
import { parseJson } from './undone.js';

/** A possible meaning of a signature: the digests that it may be of, and a check for the bytes of one. */
export interface Target {
  readonly digests: readonly string[];
  /** @param made - The bytes as Latin-1. */
  fits(made: string): boolean;
  /** The time beside the signature, which may be signed with the body. */
  readonly time?: string;
}

/** The digests that a signature may be of, by their length in bytes. */
const DIGESTS: Readonly<Record<number, readonly string[]>> = {
  64: ['sha512', 'sha3-512', 'blake2b512'],
  48: ['sha384', 'sha3-384'],
  32: ['sha256', 'sha3-256', 'sha512-256'],
  28: ['sha224'],
  20: ['sha1'],
  16: ['md5'],
};
const SIZES = Object.keys(DIGESTS).map(Number);

/** The fewest bytes that identify a digest. */
const FEWEST = 16;

/** How many nested encodings to undo. */
const DEEPEST = 3;

type Reading = Candidate<Target> & { readonly key: string };

/** Returns the possible meanings of a signature: in any usual encoding, with a prefix, cut, or doubled. */
export function readSignature(given: string): Candidate<Target>[] {
  const [, time] = /(?:^|[,;\s])t=(\d{9,13})(?=[,;\s]|$)/.exec(given) ?? [];
  const seen = new Set<string>();
  const readings: Reading[] = [];
  const texts: Candidate<string>[] = [{ value: given, steps: [] }];
  // The texts that took the fewest steps come first.
  for (const { value: text, steps } of texts) {
    if (seen.has(text) || text === '' || steps.length > DEEPEST) continue;
    seen.add(text);
    readings.push(...digitsOf(text, steps), ...latinOf(text, steps));
    // A text with the length of a digest is read as a digest only.
    if (/^[0-9a-f]+$/i.test(text) && DIGESTS[text.length / 2] !== undefined) continue;
    for (const [value, code, detail] of partsOf(text))
      texts.push({ value, steps: [...steps, step(code, detail)] });
    for (const { value, how } of text === text.trim() ? decodings(text) : []) {
      const inHow = [...steps, step('signature_encoding', how)];
      readings.push(...ofBytes(Buffer.from(value), inHow));
      const inner = readUtf8(value);
      if (inner !== undefined) texts.push({ value: inner, steps: inHow });
    }
  }
  const known = new Set<string>();
  return readings
    .sort((a, b) => a.steps.length - b.steps.length)
    .filter(({ key }) => known.size !== known.add(key).size)
    .map(({ value, steps }) => ({ value: time === undefined ? value : { ...value, time }, steps }));
}

/** Yields the parts of a text that may be the signature. */
function* partsOf(text: string): Generator<readonly [part: string, CauseCode, detail?: string]> {
  const trimmed = unquoted(text);
  if (trimmed !== text) yield [trimmed, 'signature_white_space'];
  for (const part of trimmed.split(/[,;\s]+/).slice(0, 20)) {
    const bare = part.replace(/^(?:0x|(?![\da-f]{2}:)[A-Za-z][\w-]{0,15}[=:])/, '');
    const prefix = part.slice(0, part.length - bare.length);
    if (bare !== part) yield [bare, 'signature_prefix', JSON.stringify(prefix)];
    else if (part !== trimmed) yield [part, 'signature_twice'];
  }
  const json = parseJson(text);
  for (const value of isJsonObject(json) ? Object.values(json) : [])
    if (typeof value === 'string') yield [value, 'signature_prefix', 'a name, in JSON'];
  for (const by of ['0', '+'])
    yield [trimmed.replaceAll(' ', by), 'signature_encoding', `digits with spaces for ${by}`];
}

/** Reads hexadecimal digits, or one decimal number. */
function* digitsOf(text: string, steps: readonly Step[]): Generator<Reading> {
  const [, sign = '', hex = ''] = /^(-?)(?:0x)?([0-9a-f]{30,})$/i.exec(text) ?? [];
  if (hex === '') return;
  const digits = hex.toLowerCase();
  if (hex === text) yield* ofBytes(Buffer.from(digits.slice(0, digits.length & ~1), 'hex'), steps);
  const asNumber = [...steps, step('signature_encoding', 'one number, without its first zeros')];
  for (const number of [`0x${digits}`, ...(/^\d+$/.test(digits) ? [digits] : [])].map(BigInt))
    for (const size of SIZES) {
      const bits = BigInt(8 * size);
      const value = (sign === '' ? number : (1n << bits) - number).toString(16);
      const isNear = value.length <= 2 * size && number >> (bits - 16n) > 0n;
      const padded = value.padStart(2 * size, '0');
      if (isNear && padded !== digits) yield* ofBytes(Buffer.from(padded, 'hex'), asNumber);
    }
  // Java may print each byte by itself: without a leading zero, and sign-extended if it is above 127.
  const bare = digits.replace(/ffffff(?=[89a-f][0-9a-f])/g, '');
  const asInt = 'numbers, one for each byte, with its sign or without its zero';
  const signed = [...steps, step('signature_encoding', asInt)];
  if (bare !== digits && bare.length % 2 === 0) yield* ofBytes(Buffer.from(bare, 'hex'), signed);
  for (const size of SIZES)
    if (bare.length < 2 * size && bare.length > 1.6 * size) {
      const digests = DIGESTS[size]?.slice(0, 1) ?? [];
      yield {
        key: bare,
        steps: signed,
        value: { digests, fits: (made) => unpadded(made) === bare },
      };
    }
}

function unpadded(bytes: string): string {
  return Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16)).join('');
}

/** Reads bytes that were decoded as Latin-1. */
function latinOf(text: string, steps: readonly Step[]): readonly Reading[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Latin-1 includes control characters.
  if (!/^[\u0000-\u00ff]{16,200}$/.test(text) || !/[\u0080-\u00ff]/.test(text)) return [];
  const inLatin = [...steps, step('signature_encoding', 'Latin-1, byte by byte')];
  return ofBytes(Buffer.from(text, 'latin1'), inLatin);
}

function ofBytes(bytes: Buffer, steps: readonly Step[]): readonly Reading[] {
  const given = bytes.toString('latin1', 0, 64);
  const beginning = (digests: readonly string[], ...how: Step[]): Reading => ({
    key: `${digests[0]} ${given}`,
    value: { digests, fits: (made) => made.startsWith(given) },
    steps: [...steps, ...how],
  });
  const whole = DIGESTS[bytes.length];
  return [
    ...(whole === undefined ? [] : [beginning(whole)]),
    ...(bytes.length > 64 ? [beginning(['sha512'], step('signature_twice'))] : []),
    ...(bytes.length >= FEWEST && bytes.length < 64
      ? [beginning(['sha512'], step('signature_cut'))]
      : []),
  ];
}
