import { createHash } from 'node:crypto';
import { isJsonObject } from '../../schemas/json.js';
import { type Candidate, step } from './cause.js';
import { readUtf8, toBytes } from './charsets.js';
import { parseJson } from './undone.js';

/** Headers in the order in which they came. */
export type Headers = readonly (readonly [name: string, value: string])[];

type Message = Candidate<Uint8Array>;

/** What may have been signed in place of the body. */
export function* otherMessages(
  body: Uint8Array,
  headers: Headers,
  time: string | undefined,
): Generator<Message> {
  const bytes = Buffer.from(body);
  const of = (value: string | Uint8Array, what: string): Message => ({
    value: typeof value === 'string' ? toBytes(value) : value,
    steps: [
      step('other_message', 'signing', `What was signed is ${what}, and not the body alone.`),
    ],
  });
  yield of('', 'nothing: the body was empty where it was signed');
  for (const text of ['{}', 'null', 'undefined', '""', '[object Object]'])
    yield of(text, `the text ${text}: the body was not there where it was signed, or no text`);
  yield of(bytes.toString('hex'), 'the body in hexadecimal');
  yield of(bytes.toString('base64'), 'the body in Base64');
  yield of(bytes.toString('base64url'), 'the body in Base64 for URLs');
  for (const digest of ['sha256', 'sha512', 'sha1', 'md5']) {
    const hash = createHash(digest).update(bytes).digest();
    yield of(hash.toString('hex'), `the ${digest.toUpperCase()} of the body in hexadecimal`);
    yield of(hash.toString('base64'), `the ${digest.toUpperCase()} of the body in Base64`);
    yield of(hash, `the ${digest.toUpperCase()} of the body`);
  }
  yield* joined(bytes, headers, time, of);
  const text = readUtf8(body);
  if (text !== undefined) yield* forms(text, of);
}

type Make = (value: string | Uint8Array, what: string) => Message;

/** What stands beside the body: a time, an id, an event. */
function* joined(
  body: Buffer,
  headers: Headers,
  time: string | undefined,
  of: Make,
): Generator<Message> {
  const beside = headers
    .filter(
      ([name]) =>
        /time|date|event|webhook|id$|nonce|delivery|topic/i.test(name) && !/signature/i.test(name),
    )
    .slice(0, 8)
    .map(([name, value]) => [`the header ${name}`, value] as const);
  const parts = [
    ...(time === undefined ? [] : [['the time of the signature', time] as const]),
    ...beside,
  ];
  for (const [what, part] of parts)
    for (const joint of ['.', '', ':', '\n', '|', '-']) {
      yield of(Buffer.concat([Buffer.from(part + joint), body]), `${what} and the body`);
      yield of(Buffer.concat([body, Buffer.from(joint + part)]), `the body and ${what}`);
    }
  for (const [first, a] of parts)
    for (const [second, b] of parts)
      if (first !== second)
        for (const joint of ['.', ':', ''])
          yield of(
            Buffer.concat([Buffer.from(`${a}${joint}${b}${joint}`), body]),
            `${first}, ${second} and the body`,
          );
}

/** The parsed body as a form, and parts of it. */
function* forms(text: string, of: Make): Generator<Message> {
  const json = parseJson(text);
  if (!isJsonObject(json)) return;
  const flat = Object.entries(json).map(([name, value]): [string, string] => [
    name,
    value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  const sorted = [...flat].sort(([a], [b]) => (a < b ? -1 : 1));
  const isSet = ([name]: readonly [string, string]) =>
    json[name] !== null &&
    (typeof json[name] !== 'object' || Object.keys(json[name] ?? {}).length > 0);
  for (const [fields, order] of [
    [flat, 'the parsed body'],
    [flat.filter(isSet), 'the parsed body, without what is null'],
    [sorted, 'the parsed body, sorted by name'],
    [sorted.filter(isSet), 'the parsed body, sorted by name and without what is null'],
  ] as const) {
    const form = new URLSearchParams(fields).toString();
    yield of(form, `${order}, as a form`);
    yield of(form.replaceAll('+', '%20'), `${order}, as a form with %20`);
    yield of(
      fields.map(([name, value]) => `${name}=${value}`).join('&'),
      `${order}, joined with = and &`,
    );
    yield of(fields.map(([, value]) => value).join(''), `the values of ${order}`);
    yield of(fields.map(([, value]) => value).join('|'), `the values of ${order} with | between`);
  }
  for (const name of ['id', 'data', 'payload'])
    if (typeof json[name] === 'string') yield of(json[name], `the ${name} of the body`);
}
