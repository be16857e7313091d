import { isJsonObject } from '../../schemas/values.js';
import type { CauseCode } from './cause.js';
import { readUtf8, toBytes } from './charsets.js';
import { attempt, parseJson, withPluses } from './undone.js';

type Value = string | Uint8Array;

/** The bytes of a text that is in one of the usual encodings. */
export interface Decoded {
  readonly value: Uint8Array;
  /** The cause for a body in this encoding. */
  readonly code: CauseCode;
  /** The name of the encoding in messages. */
  readonly how: string;
}

/** Undoes each encoding that a text may be in. Used for bodies, secrets and signatures. */
export function* decodings(text: string): Generator<Decoded> {
  const trimmed = text.trim();
  const all: readonly (readonly [CauseCode, string, ...(Value | undefined)[]])[] = [
    ['encoded_twice', 'JSON once more, as a text', fromJsonText(trimmed)],
    ['escaped', 'CSV, with its quotes doubled', fromCsv(trimmed)],
    ['escaped', 'SQL, with its apostrophes doubled', text.replaceAll("''", "'")],
    ['escaped', 'HTML, with entities such as &quot;', fromHtml(text)],
    ['printed', "the bytes of Python's b'…'", fromPythonBytes(trimmed)],
    ['escaped', 'the escapes of a log, a shell or addslashes()', ...fromEscapes(trimmed)],
    ['percent_encoded', 'percent-encoding', ...fromPercents(trimmed)],
    ['escaped', 'quoted-printable', fromQuotedPrintable(text)],
    ['hex_encoded', 'hexadecimal', fromHex(trimmed)],
    ['base64_encoded', 'Base64', fromBase64(trimmed)],
    ['printed', 'a list of the numbers of its bytes', fromList(trimmed)],
    ['charset_converted', 'UTF-16, or with zero bytes between', withoutZeros(text)],
  ];
  for (const [code, how, ...values] of all)
    for (const made of values)
      if (made !== undefined && made.length > 0 && made !== text)
        yield { value: typeof made === 'string' ? toBytes(made) : made, code, how };
}

function fromJsonText(text: string): string | undefined {
  const parsed = text.startsWith('"') ? parseJson(text) : undefined;
  return typeof parsed === 'string' ? parsed : undefined;
}

/** Decodes a single CSV field, or the first field of a row that has doubled quotes. */
function fromCsv(text: string): string | undefined {
  const start = text.lastIndexOf('"', text.indexOf('""') - 1);
  if (start < 0 || !text.includes('""', 1)) return undefined;
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1))
    if (text[end + 1] === '"') end += 1;
    // PHP does not double a quote after a backslash.
    else if (text[end - 1] !== '\\') return text.slice(start + 1, end).replaceAll('""', '"');
  return undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  amp: '&',
  lt: '<',
  gt: '>',
  apos: "'",
};

function fromHtml(text: string): string {
  return text.replace(
    /&(?:(quot|amp|lt|gt|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi,
    (all, name, decimal, hex) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
}

function fromPythonBytes(text: string): Uint8Array | undefined {
  const isBytes = /^b(?:'|")/.test(text) && text.at(-1) === text[1];
  return isBytes ? unescapeBytes(text.slice(2, -1)) : undefined;
}

const CONTROLS = 'n\nr\rt\tb\bf\fa\x07e\x1bv\v';

/** Undoes the escapes of C, Python, shells and the log of nginx. */
function unescapeBytes(text: string): Uint8Array {
  const code = /\\(?:x([\da-f]{2})|([0-7]{3})|(\r?\n)|(.))/gis;
  const latin = Buffer.from(text).toString('latin1');
  const made = latin.replace(code, (_, hex, octal, end, one: string) => {
    if (end !== undefined) return '';
    if (one !== undefined)
      return /[nrtbfaev]/.test(one) ? CONTROLS.charAt(CONTROLS.indexOf(one) + 1) : one;
    return String.fromCharCode(Number.parseInt(hex ?? octal, hex === undefined ? 8 : 16) & 255);
  });
  return Buffer.from(made, 'latin1');
}

function fromEscapes(text: string): readonly Value[] {
  // The backslashes of valid JSON belong to it.
  if (!text.includes('\\') || parseJson(text) !== undefined) return [];
  const inner = /^\$'.*'$|^".*\\".*"$/s.test(text) ? text.replace(/^\$?['"]|['"]$/g, '') : text;
  return [
    fromJsonText(`"${inner}"`) ?? '',
    inner.replace(/\\(.)/gs, '$1'),
    // The l command of sed ends lines with a dollar sign.
    unescapeBytes(inner.replace(/\$$/, '')),
    inner.replace(/\\(?:x(..)|u(.{4})|U(.{8}))/g, (all, ...digits: (string | undefined)[]) => {
      const point = Number(`0x${digits.find(Boolean)}`);
      return point <= 0x10ffff ? String.fromCodePoint(point) : all;
    }),
  ];
}

function fromPercents(text: string): readonly Value[] {
  if (!/%[\da-f]{2}/i.test(text)) return [];
  const made = attempt(() => decodeURIComponent(text));
  return [made ?? fromCodes(text, /%([\da-f]{2})/gi), ...withPluses(fromForm(text) ?? '')];
}

/** Decodes a value of a form. */
export function fromForm(text: string): string | undefined {
  return attempt(() => decodeURIComponent(text.replaceAll('+', ' ')));
}

function fromQuotedPrintable(text: string): Uint8Array | undefined {
  const isQuoted = /=(?:\r?\n|[\dA-F]{2})/.test(text);
  return isQuoted ? fromCodes(text.replace(/=\r?\n/g, ''), /=([\dA-F]{2})/g) : undefined;
}

/** Replaces each code of two hexadecimal digits with its byte. */
function fromCodes(text: string, code: RegExp): Uint8Array {
  const latin = Buffer.from(text).toString('latin1');
  const made = latin.replace(code, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(made, 'latin1');
}

/** Decodes hexadecimal, also in lines, with separators between the bytes, or as an SQL literal. */
function fromHex(text: string): Uint8Array | undefined {
  // White space goes first: a regular expression that skips it takes quadratic time for a long run of it.
  const joined = text.replace(/^x'|'$/gi, '').replace(/[\s:-]/g, '');
  const digits = joined.replace(/,?(?:\\x|0x)/gi, '');
  // Looks for another character: a repetition over 10 MB could take more of the stack than there is.
  const isHex = digits.length >= 8 && digits.length % 2 === 0 && !/[^\da-f]/i.test(digits);
  return isHex ? Buffer.from(digits, 'hex') : undefined;
}

function fromBase64(text: string): Uint8Array | undefined {
  const joined = text.replace(/\s+/g, '');
  const isBase64 = joined.length >= 4 && !/[^\w+/-]/.test(joined.replace(/={1,2}$/, ''));
  return isBase64 ? Buffer.from(joined, 'base64') : undefined;
}

/** Decodes bytes that are listed as numbers from -128 to 255, as by String(), JSON or Java's Arrays.toString(). */
function fromList(text: string): Uint8Array | undefined {
  const begin = /^[[(<{]?\s*(?:-?\d{1,3}[\s,.;]|"0"\s*:|"type"\s*:\s*"Buffer")/;
  if (!begin.test(text.slice(0, 100))) return undefined;
  const json = parseJson(text);
  const listed = isJsonObject(json) && json.type === 'Buffer' ? json.data : json;
  const isListed = typeof listed === 'object' && listed !== null;
  const words = text.replace(/^[[(<{]|[\])>}]$/g, '').trim();
  const bytes = (isListed ? Object.values(listed) : words.split(/[\s,.;]+/)).map(Number);
  const areBytes = bytes.every((one) => Number.isInteger(one) && one >= -128 && one <= 255);
  return areBytes && bytes.length > 3 ? Uint8Array.from(bytes) : undefined;
}

function withoutZeros(text: string): string {
  if (!text.includes('\0')) return text;
  return text.replace(/\0+/g, '').replace(/^(?:ÿþ|þÿ|\ufeff|\ufffd\ufffd)/, '');
}

/** Yields bytes in each usual encoding, with its name: as a message or a key. */
export function* encodingsOf(bytes: Uint8Array): Generator<readonly [how: string, Value]> {
  const buffer = Buffer.from(bytes);
  const hex = buffer.toString('hex');
  const base64 = buffer.toString('base64');
  const lines = base64.replace(/.{76}(?=.)/g, '$&\n');
  const all: [string, ...Value[]][] = [
    ['hexadecimal', hex, hex.toUpperCase(), `${hex}\n`],
    ['Base64', base64, base64.replace(/=+$/, ''), `${base64}\n`, lines, `${lines}\n`],
    ['Base64 for URLs', buffer.toString('base64url')],
  ];
  const text = readUtf8(bytes);
  if (text !== undefined) {
    const [utf16, marked] = [text, `\ufeff${text}`].map((one) => Buffer.from(one, 'utf16le'));
    const swapped = [utf16, marked].map((one) => Buffer.from(one ?? '').swap16());
    all.push(
      ['percent-encoding', ...percentEncoded(text)],
      ['HTML', ...htmlEscaped(text)],
      ['JSON, as a text', JSON.stringify(text)],
      ['escapes with backslashes', text.replace(/['"\\]/g, '\\$&')],
      ["Python's b'…'", `b'${text}'`],
      ['UTF-16', utf16 ?? '', marked ?? '', ...swapped],
      ['Latin-1', Buffer.from(text, 'latin1')],
    );
  }
  for (const [how, ...values] of all) for (const value of values) yield [how, value];
}

/** The characters that URL encoders keep beside letters and digits, and the replacement for a space. */
const URL_ENCODERS = [
  ["-_.!~*'()", '%20'],
  ['-_.~', '%20'],
  ['-_.', '+'],
  ['-_.~', '+'],
  ['*-._', '+'],
  ['-_.~/', '%20'],
  ["-_.!~*'();/?:@&=+$,#", '%20'],
] as const;

/** The characters that URL encoders treat differently. */
const DISPUTED = "!'()*~;/?:@&=+$,#";

export function percentEncoded(text: string): readonly string[] {
  const all = attempt(() => encodeURIComponent(text));
  if (all === undefined) return [];
  return URL_ENCODERS.map(([safe, blank]) => {
    let made = all;
    for (const one of DISPUTED) {
      const code = `%${one.charCodeAt(0).toString(16).toUpperCase()}`;
      made = safe.includes(one) ? made.replaceAll(code, one) : made.replaceAll(one, code);
    }
    return made.replaceAll('%20', blank);
  });
}

function htmlEscaped(text: string): readonly string[] {
  const least = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = ['&quot;', '&#34;'].map((quote) => least.replaceAll('"', quote));
  const apostrophes = ["'", '&#039;', '&#39;', '&#x27;', '&apos;'];
  return [least, ...quoted.flatMap((one) => apostrophes.map((by) => one.replaceAll("'", by)))];
}

/** Pairs of characters that surround a value in a template, a list or a word processor. */
const PAIRS = ['""', "''", '``', '<>', '{}', '[]', '()', '“”', '‘’', '„“', '«»'];

/** Removes the white space, quotes and brackets around a text. */
export function unquoted(text: string): string {
  let inner = text.replace(/^[\s\p{Cf}]+/u, '').trimEnd();
  while (inner.length > 2 && PAIRS.includes(inner.charAt(0) + inner.slice(-1)))
    inner = inner.slice(1, -1).trim();
  return inner;
}
