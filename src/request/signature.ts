import { UsageError } from '../errors/errors.js';
import { decodeHex, isBytes, nameType, toHex, toText, toUtf8 } from '../runtime/bytes.js';
import { sha2 } from '../runtime/hashes.js';

/** The account's webhook secret: text, or the bytes of the key. */
export type Secret = string | Uint8Array;

const SIGNATURE = /^[0-9a-f]{128}$/i;

// Reused for each signature: allocating 64 bytes takes longer than decoding them.
const given = new Uint8Array(64);

/** Whether a header value has the form of a signature: exactly 128 hexadecimal digits. */
export function isSignature(value: string | null | undefined): value is string {
  return typeof value === 'string' && SIGNATURE.test(value);
}

/**
 * Returns whether `signature` is the HMAC-SHA512 of exactly these bytes, in upper- or lower-case hexadecimal
 * (specification: Authentication, Webhook authenticity).
 *
 * Synchronous on every runtime, and constant in time over all secrets. A missing, malformed or wrong
 * signature returns `false`; no input from a sender can make it throw.
 *
 * @param rawBody - The body as received. A string is taken as its UTF-8 bytes.
 * @param signature - The value of the `X-Service-Signature` header.
 * @param secret - One secret, or several while one is being replaced.
 * @throws {UsageError} `body_not_bytes` for a parsed body, `secret_invalid` for an empty secret.
 *
 * @example
 * export async function POST(request: Request) {
 *   const rawBody = new Uint8Array(await request.arrayBuffer());
 *   const isGenuine = verifySignature(rawBody, request.headers.get('x-service-signature'), secret);
 *   return new Response(null, { status: isGenuine ? 200 : 401 });
 * }
 */
export function verifySignature(
  rawBody: Uint8Array | string,
  signature: string | null | undefined,
  secret: Secret | readonly Secret[],
): boolean {
  const body = toBytes(rawBody, 'verifySignature');
  const secrets = toSecrets(secret);
  return isSignature(signature) && fits(body, signature, secrets);
}

/** {@link verifySignature} for a signature and secrets whose form has already been checked. */
export function fits(body: Uint8Array, signature: string, secrets: readonly Secret[]): boolean {
  decodeHex(signature, given);
  let valid = false;
  // Tries every secret, so that the duration does not reveal which one matches.
  for (const key of secrets) valid = sha2.equal(sha2.hmacSha512(key, body), given) || valid;
  return valid;
}

/**
 * Signs a body as the provider does: HMAC-SHA512 in lower-case hexadecimal. For tests.
 *
 * @throws {UsageError} `body_not_bytes` if the body is neither bytes nor text, `secret_invalid` for an empty
 *   secret.
 *
 * @example
 * const headers = { 'X-Service-Signature': sign(rawBody, secret) };
 */
export function sign(rawBody: Uint8Array | string, secret: Secret): string {
  const body = toBytes(rawBody, 'sign');
  checkSecret(secret);
  return toHex(sha2.hmacSha512(secret, body));
}

/** Returns a secret or several as a list, and checks that each one can be a key. */
export function toSecrets(secret: unknown): readonly Secret[] {
  if (!Array.isArray(secret)) {
    checkSecret(secret);
    return [secret];
  }
  if (secret.length === 0) throw badSecret('the list of secrets is empty');
  for (const one of secret) checkSecret(one);
  return secret;
}

const GUESSED = 'it is the text of a missing value, such as "undefined", which anyone can guess';

/** The text that results when a missing value or an object is converted to a string. */
const NO_VALUE = /^(?:undefined|null|NaN|true|false|\[object \w+\])\0*$/;

export function isTextOfNone(text: string): boolean {
  return NO_VALUE.test(text);
}

function checkSecret(secret: unknown): asserts secret is Secret {
  if (typeof secret === 'string') {
    // "" and "\0" are the same HMAC key, and anyone can sign with it.
    if (/^[\s\0\p{Cf}]*$/u.test(secret)) throw badSecret('it is empty');
    checkText(secret);
  } else if (isBytes(secret)) {
    if (secret.every((byte) => byte === 0)) throw badSecret('it is empty');
    if (secret.length < 64) checkText(toText(secret));
  } else {
    throw badSecret(`it is ${nameType(secret)}, not a string or a Uint8Array`);
  }
}

function checkText(text: string): void {
  // HMAC pads a key with zeros, so zeros at the end do not make it another key.
  if (isTextOfNone(text)) throw badSecret(GUESSED);
}

export function badSecret(reason: string): UsageError {
  return new UsageError(
    'secret_invalid',
    `The webhook secret cannot be used: ${reason}. Pass the signing secret of your account, ` +
      'for example process.env.WEBHOOK_SECRET, and check that it is set.',
  );
}

function toBytes(rawBody: unknown, caller: string): Uint8Array {
  if (isBytes(rawBody)) return rawBody;
  if (typeof rawBody === 'string') return toUtf8(rawBody);
  throw new UsageError(
    'body_not_bytes',
    `${caller} needs the raw body, as a Uint8Array, a Buffer or a string, but got ${nameType(rawBody)}. ` +
      'A parsed body cannot be verified: pass the bytes as received, ' +
      'for example req.body of express.raw({ type: () => true }), or new Uint8Array(await request.arrayBuffer()).',
  );
}
