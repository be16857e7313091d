import { createHash } from 'node:crypto';
import { isJsonObject } from '../../schemas/values.js';
import type { NamedSecret } from '../secrets.js';
import { type Candidate, type CauseCode, step } from './cause.js';
import { readUtf8 } from './charsets.js';
import { decodings, encodingsOf, unquoted } from './encodings.js';
import { parseJson } from './undone.js';

/** The keys that the operator gave. */
export interface Keys {
  /** The first one is the receiver's. */
  readonly secrets: readonly [NamedSecret, ...NamedSecret[]];
  readonly apiKeys: readonly NamedSecret[];
}

type Key = Candidate<string | Uint8Array>;

/** A given key, and the name that messages use for it. */
export interface GivenKey extends Candidate<string> {
  readonly name: string;
}

/** Returns the keys as they were given, the receiver's first. */
export function givenKeys({ secrets: [own, ...others], apiKeys }: Keys): readonly GivenKey[] {
  const given = (code: CauseCode, { name, secret }: NamedSecret): GivenKey => {
    const steps = [step(code, `${name}, and not with ${own.name}`)];
    return { value: secret, name, steps };
  };
  return [
    { value: own.secret, steps: [], name: own.name },
    ...others.map((one) => given('other_secret', one)),
    ...apiKeys.map((one) => given('api_key', one)),
  ];
}

/** Returns keys that signers use if their variable is not set, or has the value of an example. */
export function knownKeys(): readonly Key[] {
  const known = (value: string, detail: string) => ({
    value,
    steps: [step('known_secret', detail)],
  });
  const unset = ['undefined', 'null', '[object Promise]', '[object Object]', ''];
  return [
    ...unset.map((text) =>
      known(text, `the text ${JSON.stringify(text)}: the variable of the signer is not set`),
    ),
    known('whsec_sk_test_demo', "the secret of the sandbox's demo account"),
  ];
}

/** Yields the possible keys if this side or the signer has misread the secret. */
export function* misread({ value: secret, name, steps }: GivenKey): Generator<Key> {
  const seen = new Set<string>([secret]);
  for (const [code, detail, ...values] of [...atHand(secret, name), ...ofSigner(secret, name)])
    for (const value of values) {
      const isNew = seen.size !== seen.add(Buffer.from(value).toString('latin1')).size;
      if (isNew && value.length > 0 && value !== secret)
        yield { value, steps: [...steps, step(code, detail)] };
    }
}

/** Yields keys that were misread in two ways, such as a prefix before Base64. */
export function* misreadTwice(key: GivenKey): Generator<Key> {
  for (const { value, steps } of misread(key)) {
    const text = typeof value === 'string' ? value : readUtf8(value);
    if (text !== undefined) yield* misread({ ...key, value: text, steps });
  }
}

const SECRET_CHARACTERS = [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-.!#$%&*',
];

/** Yields the possible keys if the given secret lacks its first or its last character, as after a careless copy. */
export function* copiedShort({ value: secret, name, steps }: GivenKey): Generator<Key> {
  const lacking = (value: string, end: string): Key => ({
    value,
    steps: [...steps, step('secret_short', `${name} lacks its ${end} character`)],
  });
  for (const character of SECRET_CHARACTERS) {
    yield lacking(character + secret, 'first');
    yield lacking(secret + character, 'last');
  }
}

type Misread = readonly [CauseCode, detail: string, ...values: (string | Uint8Array)[]];

/** Matches a beginning that is not part of the secret: of a line in a file, of a header or of a key. */
const PREFIX =
  /^(?:export\s+)?[A-Za-z][\w.-]*\s*[=:](?![=\s]*$)\s*|^urn:uuid:|^(?:Bearer|Basic)\s+|^[A-Za-z]{2,12}_(?:(?:live|test)_)?/;

const UUID = /^\{?([\da-f]{8})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{12})\}?$/i;

/** Yields what the key is if the given secret has something around it that is not part of it. */
function* atHand(secret: string, name: string): Generator<Misread> {
  const own = `The secret in ${name}`;
  const trimmed = secret.replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, '');
  yield ['secret_white_space', own, trimmed, secret.replace(/[\s\p{Cf}]+/gu, '')];
  const json = parseJson(secret);
  const members = isJsonObject(json) ? Object.values(json) : [];
  const texts = members.filter((value) => typeof value === 'string');
  const bare = [unquoted(secret), trimmed.replace(/[;,]$/, ''), trimmed.replace(/\s+#.*$/s, '')];
  yield ['secret_quoted', own, ...bare, ...texts];
  yield ['secret_prefix', own, trimmed.replace(PREFIX, ''), trimmed.replace(/^[-*•]\s+/, '')];
  const half = trimmed.slice(0, trimmed.length / 2);
  if (trimmed === half + half) yield ['secret_twice', name, half];
  const typed = unquoted(secret.replace(/[\u2010-\u2015\u2212]/g, '-').replace(/[‘’“”„]/g, '"'));
  yield ['secret_encoding', `${name} before a word processor changed its quotes or dashes`, typed];
  for (const { value, how } of decodings(secret))
    yield ['secret_encoding', `${name}, decoded from ${how}`, readUtf8(value) ?? value];
  const [, ...parts] = UUID.exec(trimmed) ?? [];
  const bytes = parts.map((part) => Buffer.from(part, 'hex'));
  const little = bytes.map((part, index) => (index < 3 ? Buffer.from(part).reverse() : part));
  const forms = [parts.join(''), parts.join('-')].flatMap((one) => [
    one.toLowerCase(),
    one.toUpperCase(),
  ]);
  const uuid = `${name}, in another form of a UUID`;
  yield ['secret_encoding', uuid, ...forms, Buffer.concat(bytes), Buffer.concat(little)];
}

const ENDS = ['\n', '\r\n', ' ', '\r'];
const PREFIXES = ['whsec_', 'sk_', 'sk_live_', 'sk_test_', 'WEBHOOK_SECRET='];

/** Secrets get cut at special characters, and at the length of a column or field. */
const SIGNS = ['#', ' ', '=', '&', ';', ',', ':', '"', "'"];
const LENGTHS = [8, 16, 20, 24, 30, 32, 36, 40, 48, 50, 64, 72, 100, 128];

/** Yields what the key is if the signer has misread the secret. */
function* ofSigner(secret: string, name: string): Generator<Misread> {
  const theirs = 'The secret of the signer';
  yield ['secret_white_space', theirs, ...ENDS.map((end) => secret + end), ` ${secret}`];
  yield ['secret_quoted', theirs, ...['"', "'", '`'].map((quote) => quote + secret + quote)];
  yield ['secret_prefix', theirs, ...PREFIXES.map((prefix) => prefix + secret)];
  yield ['secret_cut', name, ...SIGNS.map((sign) => secret.slice(0, secret.indexOf(sign)))];
  yield ['secret_cut', name, ...LENGTHS.map((length) => secret.slice(0, length))];
  yield ['secret_cut', name, secret.replace(/=+$/, ''), secret.slice(0, -1)];
  const expanded = [/\$(?:\w+|\{[^}]*\})/g, /\$\d/g].map((what) => secret.replace(what, ''));
  const doubled = [secret.replaceAll('$', '$$$$'), secret.replaceAll('$$', '$')];
  yield ['secret_expanded', name, ...expanded, ...doubled, secret.replace(/\\(.)/g, '$1')];
  for (const [how, value] of encodingsOf(Buffer.from(secret)))
    yield ['secret_encoding', `${name}, encoded in ${how}`, value];
  const pluses = [secret.replaceAll(' ', '+'), secret.replaceAll('+', ' ')];
  yield ['secret_encoding', `${name}, with spaces for its plus signs or the reverse`, ...pluses];
  for (const form of ['NFC', 'NFD'] as const)
    yield ['secret_encoding', `${name}, in the Unicode form ${form}`, secret.normalize(form)];
  for (const digest of ['sha256', 'sha512', 'sha1', 'md5']) {
    const hash = createHash(digest).update(secret).digest();
    const how = `${name}, hashed with ${digest.toUpperCase()}`;
    yield ['secret_encoding', how, hash.toString('hex'), hash];
  }
  yield ['secret_case', name, secret.toLowerCase(), secret.toUpperCase()];
}
