import type { Candidate } from './cause.js';
import { bytesOfText, CHARSETS, readUtf8, utf16 } from './charsets.js';
import { endOfJson } from './endings.js';
import { compression, framing } from './packing.js';
import { attempt, one, parseJson, withPluses } from './undone.js';
import { contentsOf } from './wrappings.js';

type Bytes = Uint8Array;

/** What the whole body may have been before something on its way encoded it, decoded it or put it into something. */
export function* earlierBodies(body: Bytes): Generator<Candidate<Bytes>> {
  yield* withoutBom(body);
  yield* charsets(body);
  yield* compression(body);
  yield* framing(body);
  const text = readUtf8(body);
  if (text === undefined) return;
  yield* decoded(text);
  yield* contentsOf(text);
  yield* encoded(text);
  const inner = text.slice(Math.max(0, text.search(/\{\s*["}]|\[\s*[[{"\d\]]/)));
  if (inner !== text)
    yield* one(
      inner.slice(0, endOfJson(inner)),
      'bytes_gained',
      'Something stands around the JSON of the body that was not sent with it.',
    );
}

const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);

function* withoutBom(body: Bytes): Generator<Candidate<Bytes>> {
  const hasBom = BOM.every((byte, index) => body[index] === byte);
  if (hasBom)
    yield* one(body.subarray(3), 'bom_gained', 'A byte order mark was put before the body.');
  else
    yield* one(
      Buffer.concat([BOM, body]),
      'bom_lost',
      'The byte order mark before the body was taken away, as text() of a request does.',
    );
}

function* charsets(body: Bytes): Generator<Candidate<Bytes>> {
  const text = readUtf8(body);
  if (text === undefined) {
    const message = (name: string) =>
      `The body was sent in UTF-8, and something has written it in ${name}.`;
    for (const { name, decode } of CHARSETS)
      yield* one(bytesOfText(decode(body)), 'charset_converted', message(name));
    yield* one(utf16.decode(body), 'charset_converted', message('UTF-16'));
    return;
  }
  yield* one(
    utf16.decode(body),
    'charset_converted',
    'The body was sent in UTF-8, and something has written it in UTF-16.',
  );
  for (const bom of [false, true])
    yield* one(
      utf16.encode(text, bom),
      'charset_converted',
      'The body was sent in UTF-16, and something has written it in UTF-8.',
    );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: What is not ASCII.
  if (!/[^\u0000-\u007f]/.test(text)) return;
  for (const charset of CHARSETS) {
    const earlier = charset.encode(text);
    const isUtf8 = earlier !== undefined && readUtf8(earlier) !== undefined;
    yield* one(
      earlier,
      'charset_converted',
      isUtf8
        ? `The body was read as ${charset.name} and written as UTF-8, so that each letter beyond ASCII became two or more.`
        : `The body was sent in ${charset.name}, and something has written it in UTF-8.`,
    );
    yield* one(
      bytesOfText(charset.decode(body)),
      'charset_converted',
      `What was signed is the body in UTF-8, taken for ${charset.name} and encoded once more.`,
      'signing',
    );
  }
  for (const form of ['NFC', 'NFD'] as const) {
    const other = form === 'NFC' ? 'NFD' : 'NFC';
    if (text.normalize(form) !== text)
      yield* one(
        text.normalize(form),
        'normalized',
        `The letters of the body were sent in the Unicode form ${form}, and are in ${other} or mixed now.`,
      );
  }
}

/** What something on the way has encoded. */
function* decoded(text: string): Generator<Candidate<Bytes>> {
  const trimmed = text.trim();
  if (trimmed.startsWith('"'))
    yield* one(
      parseText(trimmed),
      'encoded_twice',
      'The body was encoded as JSON a second time: it is a text that holds the JSON.',
      'parser',
    );
  if (trimmed.includes('\\"'))
    for (const made of [parseText(`"${trimmed}"`), trimmed.replace(/\\(.)/gs, '$1')])
      yield* one(
        made,
        'escaped',
        'The quotes of the body have a backslash each: it was escaped once more, as by addslashes() or WordPress.',
      );
  if (trimmed.includes("''"))
    yield* one(
      text.replaceAll("''", "'"),
      'escaped',
      'Each apostrophe of the body was doubled, as for SQL.',
    );
  yield* percentDecoded(trimmed);
  // In lines, or with a space between the bytes.
  const joined = trimmed.replace(/\s+/g, '');
  if (joined.length >= 8 && /^[\w+/=-]+$/.test(joined)) {
    if (/^(?:[0-9a-f]{2})+$/i.test(joined))
      yield* one(
        Buffer.from(joined, 'hex'),
        'hex_encoded',
        'The body is in hexadecimal: it was signed as it was before.',
      );
    yield* one(
      Buffer.from(joined, 'base64'),
      'base64_encoded',
      'The body is in Base64, as Lambda hands it over where isBase64Encoded is true: it was signed as it was before.',
    );
  }
  if (/&(?:quot|amp|lt|gt|#\d+|#x[0-9a-f]+);/i.test(text))
    yield* one(
      fromHtml(text),
      'escaped',
      'Characters of the body were escaped for HTML, such as &quot;.',
    );
  if (text.includes('\0'))
    yield* one(text.replace(/\0+/g, ''), 'bytes_gained', 'Zero bytes have come into the body.');
}

function* percentDecoded(text: string): Generator<Candidate<Bytes>> {
  const [, first] = /^([\w.[\]-]*)=/.exec(text) ?? [];
  if (first === undefined && !/%[0-9a-f]{2}/i.test(text)) return;
  if (first === undefined)
    for (const made of [attempt(() => decodeURIComponent(text)), fromForm(text)])
      yield* one(
        made,
        'percent_encoded',
        'The body is percent-encoded: it was signed as it was before.',
      );
  else
    for (const field of text.split('&')) {
      const name = JSON.stringify(field.split('=')[0]);
      yield* one(
        fromForm(field.slice(field.indexOf('=') + 1)),
        'form_encoded',
        `The body is a form, and what was signed is its field ${name}.`,
      );
    }
  for (const made of withPluses(fromForm(text.replace(/=(?=&|$)/g, '')) ?? ''))
    yield* one(made, 'form_encoded', 'The body was taken for a form and encoded as one.');
}

/** What something on the way has decoded. */
function* encoded(text: string): Generator<Candidate<Bytes>> {
  yield* one(
    JSON.stringify(text),
    'decoded',
    'The body was sent as a text that holds the JSON, and something has decoded it.',
    'parser',
  );
  for (const name of ['payload', 'data', 'body', 'json']) {
    const message = `The body was sent as a form with the field ${JSON.stringify(name)}, and something has taken its value out.`;
    const value = encodeURIComponent(text);
    yield* one(
      `${name}=${value.replaceAll('%20', '+').replace(/[!'()*~]/g, hexOf)}`,
      'form_decoded',
      message,
      'parser',
    );
    yield* one(`${name}=${value}`, 'form_decoded', message, 'parser');
  }
  for (const made of withPluses(text).slice(1))
    if (made !== text)
      yield* one(
        made,
        'form_decoded',
        'Plus signs of the body have become spaces: it was taken for a form.',
        'parser',
      );
  if (/[\n\t\r]/.test(text))
    yield* one(
      text.replace(/[\n\t\r]/g, (one) => JSON.stringify(one).slice(1, -1)),
      'decoded',
      'The escapes of the body, such as \\n, have become what they mean, as by echo of sh.',
    );
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function parseText(text: string): string | undefined {
  const parsed = parseJson(text);
  return typeof parsed === 'string' ? parsed : undefined;
}

function fromForm(text: string): string | undefined {
  return attempt(() => decodeURIComponent(text.replaceAll('+', ' ')));
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
    /&(?:(quot|amp|lt|gt|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi,
    (all, name, decimal, hex) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
}
