import { createHash } from 'node:crypto';
import type { NamedSecret } from '../secrets.js';
import { type Candidate, type CauseCode, step } from './cause.js';
import { attempt } from './undone.js';

/** The keys at hand. */
export interface Keys {
  /** The first one is the receiver's. */
  readonly secrets: readonly [NamedSecret, ...NamedSecret[]];
  readonly apiKeys: readonly NamedSecret[];
}

type Key = Candidate<string | Uint8Array>;

/** The keys as they are given: the receiver's first. */
export function givenKeys({ secrets: [own, ...others], apiKeys }: Keys): readonly Key[] {
  return [
    { value: own.secret, steps: [] },
    ...others.map(({ name, secret }) =>
      toKey(
        secret,
        'other_secret',
        `It was signed with another of the secrets at hand: with ${name}, and not with ${own.name}.`,
      ),
    ),
    ...apiKeys.map(({ name, secret }) =>
      toKey(
        secret,
        'api_key',
        `It was signed with the API key in ${name}, and not with the webhook secret in ${own.name}.`,
      ),
    ),
  ];
}

/** What may have been the key where one of those that are given was misread. */
export function* misreadKeys(keys: Keys): Generator<Key> {
  for (const { name, secret, steps } of named(keys))
    for (const misread of misreadings(secret, name))
      yield { value: misread.value, steps: [...steps, ...misread.steps] };
  for (const known of ['undefined', 'null', '', '[object Promise]', '[object Object]'])
    yield toKey(
      known,
      'known_secret',
      known === ''
        ? 'It was signed with an empty secret: the variable of who signs is not set.'
        : `It was signed with the text ${JSON.stringify(known)}: the variable of who signs is not set.`,
    );
  yield toKey(
    'whsec_sk_test_demo',
    'known_secret',
    "It was signed with the secret of the sandbox's demo account.",
  );
}

/** The same, misread in two ways: such as a prefix before Base64. */
export function* misreadTwice(keys: Keys): Generator<Key> {
  for (const { name, secret, steps } of named(keys))
    for (const first of misreadings(secret, name)) {
      if (typeof first.value !== 'string') continue;
      for (const second of misreadings(first.value, name))
        yield { value: second.value, steps: [...steps, ...first.steps, ...second.steps] };
    }
}

function named(keys: Keys) {
  const given = givenKeys(keys);
  return [...keys.secrets, ...keys.apiKeys].map((one, index) => ({
    ...one,
    steps: given[index]?.steps ?? [],
  }));
}

function toKey(value: string | Uint8Array, code: CauseCode, message: string): Key {
  return { value, steps: [step(code, 'secret', message)] };
}

function* misreadings(secret: string, name: string): Generator<Key> {
  const made = (value: string | Uint8Array, code: CauseCode, message: string): readonly Key[] =>
    value === secret || value.length === 0 ? [] : [toKey(value, code, message)];
  const trimmed = secret.replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, '');
  const space = 'white space before or after it';
  yield* made(
    trimmed,
    'secret_white_space',
    `The secret in ${name} has ${space}, such as a line end.`,
  );
  for (const end of ['\n', '\r\n', ' ', '\r'])
    yield* made(
      secret + end,
      'secret_white_space',
      `Who signs has a secret with ${JSON.stringify(end)} at its end, which ${name} has not.`,
    );
  yield* made(` ${secret}`, 'secret_white_space', `Who signs has a secret with ${space}.`);
  yield* made(
    secret.replace(/\s+/g, ''),
    'secret_white_space',
    `The secret in ${name} has white space in it.`,
  );
  for (const quote of ['"', "'", '`']) {
    if (trimmed.length > 2 && trimmed.startsWith(quote) && trimmed.endsWith(quote))
      yield* made(
        trimmed.slice(1, -1),
        'secret_quoted',
        `The secret in ${name} has quotes around it.`,
      );
    yield* made(
      `${quote}${secret}${quote}`,
      'secret_quoted',
      'Who signs has quotes around the secret.',
    );
  }
  if (trimmed.endsWith(';') || trimmed.endsWith(','))
    yield* made(
      trimmed.slice(0, -1),
      'secret_quoted',
      `The secret in ${name} ends with a sign that is not part of it.`,
    );
  const [prefix] =
    /^(?:export\s+)?[A-Za-z][\w.-]*\s*[=:](?![=\s]*$)\s*|^(?:Bearer|Basic)\s+|^[A-Za-z]{2,12}_(?:(?:live|test)_)?/.exec(
      trimmed,
    ) ?? [];
  if (prefix !== undefined)
    yield* made(
      trimmed.slice(prefix.length),
      'secret_prefix',
      `The secret in ${name} begins with a prefix that is not part of the key.`,
    );
  for (const missing of ['whsec_', 'sk_', 'sk_live_', 'sk_test_', 'WEBHOOK_SECRET='])
    yield* made(
      missing + secret,
      'secret_prefix',
      `The key of who signs has ${JSON.stringify(missing)} before what is in ${name}.`,
    );
  yield* made(
    trimmed.replace(/\s+#.*$/s, ''),
    'secret_quoted',
    `A comment stands behind the secret in ${name}.`,
  );
  yield* encodings(trimmed, name, made);
}

type Make = (value: string | Uint8Array, code: CauseCode, message: string) => readonly Key[];

function* encodings(secret: string, name: string, made: Make): Generator<Key> {
  const decoded = (how: string) =>
    `The key is what the secret in ${name} is once it is decoded from ${how}.`;
  const encoded = (how: string) => `The key is the secret in ${name} once it is encoded in ${how}.`;
  if (/^[\w+/-]{4,}={0,2}$/.test(secret))
    yield* made(Buffer.from(secret, 'base64'), 'secret_encoding', decoded('Base64'));
  if (/^(?:[0-9a-f]{2}){2,}$/i.test(secret))
    yield* made(Buffer.from(secret, 'hex'), 'secret_encoding', decoded('hexadecimal'));
  const unescaped = attempt(() => decodeURIComponent(secret));
  if (unescaped !== undefined)
    yield* made(unescaped, 'secret_encoding', decoded('a URL, such as %2B for +'));
  const unplussed = attempt(() => decodeURIComponent(secret.replaceAll('+', ' ')));
  if (unplussed !== undefined)
    yield* made(unplussed, 'secret_encoding', decoded('a form, where + is a space'));
  yield* made(
    secret.replaceAll(' ', '+'),
    'secret_encoding',
    `The plus signs of the secret in ${name} have become spaces.`,
  );
  const quoted = attempt((): unknown => JSON.parse(`"${secret.replace(/^"|"$/g, '')}"`));
  if (typeof quoted === 'string')
    yield* made(quoted, 'secret_encoding', decoded('JSON, such as \\n'));
  const bytes = Buffer.from(secret);
  const escaped = attempt(() => encodeURIComponent(secret));
  if (escaped !== undefined) yield* made(escaped, 'secret_encoding', encoded('a URL'));
  yield* made(bytes.toString('base64'), 'secret_encoding', encoded('Base64'));
  yield* made(bytes.toString('base64url'), 'secret_encoding', encoded('Base64 for URLs'));
  yield* made(bytes.toString('hex'), 'secret_encoding', encoded('hexadecimal'));
  yield* made(Buffer.from(secret, 'latin1'), 'secret_encoding', encoded('Latin-1'));
  yield* made(Buffer.from(secret, 'utf16le'), 'secret_encoding', encoded('UTF-16'));
  for (const form of ['NFC', 'NFD'] as const)
    yield* made(secret.normalize(form), 'secret_encoding', encoded(`the Unicode form ${form}`));
  for (const digest of ['sha256', 'sha512', 'md5'] as const) {
    const hash = createHash(digest).update(bytes).digest();
    const message = `The key is the ${digest.toUpperCase()} of the secret in ${name}.`;
    yield* made(hash.toString('hex'), 'secret_encoding', message);
    yield* made(hash, 'secret_encoding', message);
  }
  const wrongCase = `The secret in ${name} is in another case than that of who signs.`;
  yield* made(secret.toLowerCase(), 'secret_case', wrongCase);
  yield* made(secret.toUpperCase(), 'secret_case', wrongCase);
}
