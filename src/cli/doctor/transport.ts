import type { Candidate } from './cause.js';
import { CHARSETS, fromModifiedUtf8, readUtf8, utf16 } from './charsets.js';
import { decompressed, framing } from './compression.js';
import { decodings, fromForm, percentEncoded } from './encodings.js';
import { endOfJson, withEndings, withoutEndings } from './endings.js';
import { one, withPluses } from './undone.js';
import { contentsOf } from './wrappings.js';

type Bytes = Uint8Array;

/** Yields the body before it was encoded or wrapped on its way, as far as the received body shows that. */
export function* earlierBodies(body: Bytes): Generator<Candidate<Bytes>> {
  if (BOM.every((byte, index) => body[index] === byte)) yield* one(body.subarray(3), 'bom_gained');
  yield* fromCharsets(body);
  yield* decompressed(body);
  yield* framing(body);
  const text = readUtf8(body);
  if (text !== undefined) yield* earlierTexts(text);
  yield* withoutEndings(body);
  if (text !== undefined) yield* innerJson(text);
}

function* earlierTexts(text: string): Generator<Candidate<Bytes>> {
  yield* fieldsOf(text.trim());
  for (const { value, code, how } of decodings(text)) yield* one(value, code, how);
  yield* contentsOf(text);
  if (text.trimEnd().includes('\n')) {
    const joined = text.replace(/\r?\n/g, '');
    for (const made of text.endsWith('\n') ? [joined, `${joined}\n`] : [joined])
      yield* one(made, 'line_end_gained', 'line ends, as fold does,');
  }
  if (/[^\\]u[\da-f]{4}/.test(text))
    yield* one(
      text.replace(/([^\\])u(?=[\da-f]{4})/g, '$1\\u'),
      'escaped',
      "the form that a shell's read gives it, without its backslashes",
    );
}

/** Yields the JSON within a text. */
function* innerJson(text: string): Generator<Candidate<Bytes>> {
  const inner = text.slice(Math.max(0, text.search(/\{\s*["}]|\[\s*[[{"\d\]]/)));
  const between = text.slice(Math.max(0, text.indexOf('{')), text.lastIndexOf('}') + 1);
  for (const json of [inner.slice(0, endOfJson(inner)), between])
    if (json !== text) yield* one(json, 'bytes_gained', 'bytes around the JSON of');
}

/** Yields what the body may have been before it was decoded on its way, which the received body does not show. */
export function* guessedBodies(body: Bytes): Generator<Candidate<Bytes>> {
  yield* withEndings(body);
  yield* one(Buffer.concat([BOM, body]), 'bom_lost');
  const text = readUtf8(body);
  if (text === undefined) return;
  yield* inCharsets(body, text);
  yield* one(JSON.stringify(text), 'decoded', 'as a text that contains the JSON');
  const values = [...new Set(percentEncoded(text))];
  for (const name of ['payload', 'data', 'body', 'json'])
    for (const value of values)
      yield* one(`${name}=${value}`, 'form_decoded', `the body was sent as its field ${name}`);
  for (const made of withPluses(text).slice(1))
    yield* one(made, 'form_decoded', 'its plus signs have become spaces');
  const escaped = text.replace(/[\n\t\r]/g, (end) => JSON.stringify(end).slice(1, -1));
  yield* one(escaped, 'decoded', 'with escapes such as \\n');
}

const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);

function* fromCharsets(body: Bytes): Generator<Candidate<Bytes>> {
  const isIn = (name: string) => `it was sent in UTF-8, and is in ${name}`;
  yield* one(utf16.decode(body), 'charset_converted', isIn('UTF-16'));
  const text = readUtf8(body);
  if (text === undefined) {
    yield* one(fromModifiedUtf8(body), 'charset_converted', isIn('the modified UTF-8 of Java'));
    for (const { name, decode } of CHARSETS)
      yield* one(decode(body), 'charset_converted', isIn(name));
  } else if (BEYOND_ASCII.test(text))
    for (const { name, encode } of CHARSETS) {
      const earlier = encode(text);
      if (earlier !== undefined && readUtf8(earlier) !== undefined)
        yield* one(earlier, 'charset_converted', `it was read as ${name} and written as UTF-8`);
    }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern matches text outside ASCII.
const BEYOND_ASCII = /[^\u0000-\u007f]/;

function* inCharsets(body: Bytes, text: string): Generator<Candidate<Bytes>> {
  const sentIn = (name: string) => `it was sent in ${name}, and is in UTF-8`;
  for (const bom of [false, true])
    yield* one(utf16.encode(text, bom), 'charset_converted', sentIn('UTF-16'));
  if (!BEYOND_ASCII.test(text)) return;
  for (const { name, encode, decode } of CHARSETS) {
    yield* one(encode(text), 'charset_converted', sentIn(name));
    yield* one(decode(body), 'other_message', `the body, read as ${name} and encoded again`);
  }
  for (const form of ['NFC', 'NFD'] as const) yield* one(text.normalize(form), 'normalized', form);
}

/** Yields the fields of a form, and the text that was taken for one. */
function* fieldsOf(text: string): Generator<Candidate<Bytes>> {
  const isForm = /^[\w.[\]-]*=/.test(text.slice(0, 200));
  for (const field of isForm ? text.split('&', 50) : []) {
    const [name = ''] = field.slice(0, 50).split('=');
    yield* one(fromForm(field.slice(field.indexOf('=') + 1)), 'form_encoded', `its field ${name}`);
  }
  if (!/=(?:&|$)/.test(text)) return;
  for (const made of withPluses(fromForm(text.replace(/=(?=&|$)/g, '')) ?? ''))
    yield* one(made, 'form_encoded', 'the text before it was taken for a form');
}
