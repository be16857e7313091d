import { createHash } from 'node:crypto';
import qs from 'qs';
import { eventSchemas } from '../../schemas/events.js';
import { isJsonObject } from '../../schemas/values.js';
import { type Candidate, step } from './cause.js';
import { readUtf8 } from './charsets.js';
import { encodingsOf, percentEncoded } from './encodings.js';
import { PLAIN } from './json-styles.js';
import { isNull, type Members, type Node, readTree, textOf } from './json-tree.js';
import { toWriter } from './json-writer.js';
import { parseJson } from './undone.js';

/** Headers in the order in which they arrived. */
export type Headers = readonly (readonly [name: string, value: string])[];

type Message = Candidate<string | Uint8Array>;

const of = (value: string | Uint8Array, what: string): Message => ({
  value,
  steps: [step('other_message', what)],
});

/** Yields messages that may have been signed instead of the body. */
export function* otherMessages(body: Uint8Array): Generator<Message> {
  for (const text of ['', '{}', 'null', 'undefined', '""', '[object Object]'])
    yield of(text, `the text ${JSON.stringify(text)}, because the body was not available`);
  for (const digest of ['sha256', 'sha512', 'sha1', 'md5']) {
    const hash = createHash(digest).update(body).digest();
    for (const value of [hash.toString('hex'), hash.toString('base64'), hash])
      yield of(value, `the ${digest.toUpperCase()} of the body`);
  }
  for (const [how, value] of encodingsOf(body)) yield of(value, `the body in ${how}`);
  const text = readUtf8(body);
  if (text === undefined) return;
  const values = [text, ...percentEncoded(text)];
  for (const name of ['payload', 'data', 'body', 'json'])
    for (const value of values) yield of(`${name}=${value}`, `the body in the field ${name}`);
  const root = readTree(text);
  if (root?.kind === 'object') yield* forms(root.members, parseJson(text));
}

/** A value that may be signed together with the body, and its name in messages. */
type Part = readonly [what: string, value: string];

const BESIDE = /time|date|event|webhook|id$|nonce|delivery|topic|^host$|^content-type$/i;

/** Returns the headers, and the time of the signature, that may be signed with the body. */
export function partsBeside(headers: Headers, time: string | undefined): readonly Part[] {
  const beside = headers
    .filter(([name]) => BESIDE.test(name) && !/signature/i.test(name))
    .slice(0, 8)
    .map(([name, value]) => [`the header ${name}`, value] as const);
  return time === undefined ? beside : [['the time of the signature', time], ...beside];
}

/** Returns the members of the body that may be signed together with it. */
export function partsWithin(body: Uint8Array): readonly Part[] {
  const json = parseJson(readUtf8(body) ?? '');
  return ['id', 'event', 'type', 'timestamp', 'created_at', 'updated_at'].flatMap((name) => {
    const value = isJsonObject(json) ? json[name] : undefined;
    const isPlain = typeof value === 'string' || typeof value === 'number';
    return isPlain ? [[`the ${name} of the body`, String(value)] as const] : [];
  });
}

const PATHS = ['', '/', '/webhook', '/webhooks', '/webhooks/', '/api/webhook', '/api/webhooks'];

/** Returns guesses for the event, and for the address that the delivery was sent to. */
export function partsGuessed(headers: Headers): readonly Part[] {
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1];
  const origins = host === undefined ? [''] : ['', `https://${host}`, `http://${host}`, host];
  const methods = ['', 'POST', 'POST ', 'POST\n'];
  const addresses = origins.flatMap((origin) =>
    PATHS.flatMap((path) => methods.map((method) => method + origin + path)),
  );
  return [
    ...Object.keys(eventSchemas).map((name) => ['the event', name] as const),
    ...addresses.map((one) => ['the address', one] as const),
  ];
}

const JOINTS = ['.', '', ':', '\n', '|', '-'];

/** Yields the body with one part before or after it. */
export function* joined(
  body: Uint8Array,
  parts: readonly Part[],
  joints = JOINTS,
): Generator<Message> {
  for (const [what, part] of parts)
    for (const joint of joints) {
      yield of(Buffer.concat([Buffer.from(part + joint), body]), `${what} and the body`);
      yield of(Buffer.concat([body, Buffer.from(joint + part)]), `the body and ${what}`);
    }
}

const VERSIONS = ['v0', 'v1'];

/** Yields the body after a version of the scheme and a part, as in `v0:1795168800:{…}`. */
export function* versioned(body: Uint8Array, parts: readonly Part[]): Generator<Message> {
  for (const version of VERSIONS)
    for (const [what, part] of parts)
      for (const joint of [':', '.']) {
        const before = [version, part, ''].join(joint);
        yield of(Buffer.concat([Buffer.from(before), body]), `${version}, ${what} and the body`);
      }
}

/** Yields the body with two or three parts before it. */
export function* joinedFurther(
  body: Uint8Array,
  parts: readonly Part[],
  joints = ['.', ':', '', '\n'],
): Generator<Message> {
  const pairs = parts.flatMap((a) => parts.filter((b) => b !== a).map((b) => [a, b]));
  const triples = pairs.flatMap((pair) =>
    parts.filter((part) => !pair.includes(part)).map((part) => [...pair, part]),
  );
  for (const joint of joints)
    for (const some of [...pairs, ...triples]) {
      const before = some.map(([, value]) => value + joint).join('');
      const what = some.map(([name]) => name).join(', ');
      yield of(Buffer.concat([Buffer.from(before), body]), `${what} and the body`);
    }
}

const isEmpty = (node: Node) =>
  (node.kind === 'object' && node.members.length === 0) ||
  (node.kind === 'array' && node.items.length === 0);

function written(node: Node): string {
  const isNested = node.kind === 'object' || node.kind === 'array';
  return isNested ? toWriter()(node, PLAIN) : textOf(node);
}

const toJs = (node: Node) =>
  node.kind === 'number' ? String(Number(node.digits)) : isNull(node) ? '' : written(node);
const PYTHON: Readonly<Record<string, string>> = { null: 'None', true: 'True', false: 'False' };

/** How languages write a value in a form; `undefined` if they leave it out, or write only the name. */
const LANGUAGES: readonly (readonly [language: string, (node: Node) => string | undefined])[] = [
  ['JavaScript', toJs],
  ['PHP', (node) => (isNull(node) || isEmpty(node) ? undefined : toJs(node))],
  ['Python', (node) => (node.kind === 'literal' ? PYTHON[node.word] : written(node))],
  ['Ruby', (node) => (isNull(node) ? undefined : written(node))],
];

/** Yields the parsed body as a form, and parts of it. */
function* forms(members: Members, json: unknown): Generator<Message> {
  const numbers = (_: string, value: unknown) =>
    typeof value === 'boolean' ? Number(value) : value;
  const asInPhp: unknown = JSON.parse(JSON.stringify(json, numbers));
  for (const format of ['RFC1738', 'RFC3986'] as const)
    yield of(qs.stringify(asInPhp, { format, skipNulls: true }), 'the body as a form of PHP');
  for (const [language, write] of LANGUAGES) {
    const all = members.map(([name, node]) => [name, write(node)] as const);
    for (const fields of [all, [...all].sort(([a], [b]) => (a < b ? -1 : 1))]) {
      const set = fields.flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, value]],
      );
      const encode = (name: string, value = '') => new URLSearchParams([[name, value]]).toString();
      const form = set.map((field) => encode(...field)).join('&');
      const bare = fields.map(([name, value]) =>
        value === undefined ? encode(name).slice(0, -1) : encode(name, value),
      );
      const values = set.map(([, value]) => value);
      for (const made of [form, form.replaceAll('+', '%20'), bare.join('&')])
        yield of(made, `the body as a form of ${language}`);
      yield of(set.map((field) => field.join('=')).join('&'), 'the body, joined with = and &');
      for (const joint of ['', '|']) yield of(values.join(joint), 'the values of the body');
    }
  }
  for (const [name, node] of members)
    if (['id', 'data', 'payload'].includes(name) && node.kind === 'string')
      yield of(node.text, `the ${name} of the body`);
}

/** A delivery as it was received. */
export interface Received {
  readonly body: Uint8Array;
  readonly signature: string;
  readonly headers?: Headers;
}
