import { isIP } from 'node:net';
import { orderSchema } from '../../schemas/order.js';
import { whiteLabelPaymentSchema } from '../../schemas/payment.js';
import { newerProductSchema, olderProductSchema } from '../../schemas/product.js';
import { FIELDS } from '../../schemas/resource.js';
import { jsonValues, type Path, toPointer } from './json-values.js';

/** A text without customer data. */
interface Redacted {
  readonly text: string;
  /** JSON pointers to the replaced values. For a query, the names of its parameters: `?token`. */
  readonly redacted: readonly string[];
}

/** The replacements for fields that hold customer data or goods, wherever in a record they are. */
const STAND_INS: readonly (readonly [field: RegExp, standIn: string])[] = [
  [/e-?mail/i, 'buyer@example.com'],
  [/^ip$|ip_?address/i, '192.0.2.1'],
  [/user_?agent/i, 'Mozilla/5.0'],
  [/url$|^referr(al|er)$/i, 'https://example.com/redacted'],
  [/address|street|city|zip|post(al)?_?code|phone|name$|discord|telegram/i, 'redacted'],
  // Goods and credentials.
  [/^delivered$|^info$|serial|licen[cs]e|secret|token|password|^blocked_data$/i, 'redacted'],
  // Free text.
  [/^custom|message|comment|content|reply|note$|^(title|text|body|subject|question)$/i, 'redacted'],
];

/** Fields without customer data: the specification's fields, and fields that only classify a record. */
const KNOWN: ReadonlySet<string> = new Set([
  ...[orderSchema, newerProductSchema, olderProductSchema, whiteLabelPaymentSchema].flatMap(
    ({ [FIELDS]: fields }) => Object.keys({ ...fields?.required, ...fields?.rest }),
  ),
  ...['order_id', 'event', 'type', 'score', 'storage', 'size', 'mime_type'],
]);

/** The seller's own words in a record, and anyone's in another object. */
const FREE_TEXT: ReadonlySet<string> = new Set(['description', 'warranty']);
/** The members that hold a record. */
const WRAPPER = /^(data|payload|object|order|product|payment)$/;
const MOST_WRAPPERS = 4;

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
/** A JSON number or string that is a price, and neither a phone nor a card number. */
const PRICE = /^"?-?\d{1,7}\.\d\d?"?$/;
/** A date, or the seconds or milliseconds since 1970. */
const DATE = /^(\d{4}-\d\d-\d\d([T ][\d:.]+ ?(Z|[+-]\d\d:?\d\d)?)?|[12]\d{9}(\d{3})?)$/;

/** Matches an e-mail or IP address, or a text that is JSON itself, whose fields are not checked. */
const TELLS = /[^\s@]@[^\s@]+\.[^\s@]|\b\d{1,3}(\.\d{1,3}){3}\b|([0-9a-f]{1,4}:){4}|^\s*[{["]/i;

/**
 * Replaces customer data in a JSON text. Every other character stays as it is.
 *
 * @throws {SyntaxError} If the text is not valid JSON, so that customer data cannot be found.
 */
export function redact(text: string): Redacted {
  const json = text.replace(/^\uFEFF/, '');
  JSON.parse(json);
  const pointers = new Set<string>();
  const pieces = [text.slice(0, text.length - json.length)];
  let copied = 0;
  for (const { kind, start, end, path } of jsonValues(json, standInFor)) {
    const token = json.slice(start, end);
    const hidden = kind === 'name' ? undefined : (path?.marked ?? unknownIn(path, token));
    const standIn = kind === 'number' ? hidden && '0' : standInForText(token, hidden?.mark);
    if (standIn === undefined || standIn === token) continue;
    pieces.push(json.slice(copied, start), standIn);
    copied = end;
    pointers.add(toPointer(hidden?.at ?? path, nameInPointer));
  }
  pieces.push(json.slice(copied));
  return { text: pieces.join(''), redacted: [...pointers] };
}

/** Replaces customer data and credentials in the query of an address. Every other character stays as it is. */
export function redactQuery(address: string): Redacted {
  const start = address.indexOf('?') + 1;
  if (start === 0) return { text: address, redacted: [] };
  const names = new Set<string>();
  const parts = address
    .slice(start)
    .split('&')
    .map((part) => {
      const [[name, value] = ['', '']] = [...new URLSearchParams(part)];
      const isCredential = TELLING_HEADERS.test(name) || isCredentialName(name);
      const credential = isCredential ? 'redacted' : undefined;
      const standIn = standInForValue(value, standInFor(name) ?? credential);
      if (standIn === undefined || standIn === value) return part;
      names.add(`?${name}`);
      return part.slice(0, part.indexOf('=') + 1) + encodeURIComponent(standIn);
    });
  return { text: address.slice(0, start) + parts.join('&'), redacted: [...names] };
}

function standInFor(field: string): string | undefined {
  return STAND_INS.find(([known]) => known.test(field))?.[1];
}

/** Marks the value of an unknown field: a newer version of the provider may put customer data there. */
function unknownIn(path: Path<string> | undefined, token: string): Path<string>['marked'] {
  const at = path?.member;
  return at === undefined || isKnown(at, token) ? undefined : { at, mark: 'redacted' };
}

function isKnown({ step, above }: Path<string>, token: string): boolean {
  const isOf = (form: RegExp) => form.test(String(JSON.parse(token)));
  if (step.endsWith('_at')) return isOf(DATE);
  // A record's value is a price. In another object, the customer may have entered it, or the wrapper is unknown.
  if (step === 'value') return PRICE.test(token) || (isRecord(above) && isOf(NUMBER));
  return KNOWN.has(step) && (!FREE_TEXT.has(step) || isRecord(above));
}

/** Whether the object at this path is a record of the provider: the whole body, or wrapped. */
function isRecord(path: Path<string> | undefined): boolean {
  let at = path?.member;
  // The limit keeps deep nesting cheap.
  for (let depth = 0; at && depth < MOST_WRAPPERS; depth++) {
    if (!WRAPPER.test(at.step)) return false;
    at = at.above?.member;
  }
  return at === undefined;
}

function standInForText(token: string, standIn: string | undefined): string | undefined {
  const found = standInForValue(JSON.parse(token), standIn);
  return found === undefined ? undefined : JSON.stringify(found);
}

function standInForValue(text: string, standIn: string | undefined): string | undefined {
  // An empty text reveals nothing.
  if (text === '') return undefined;
  return standIn ?? (tells(text) ? 'redacted' : undefined);
}

function tells(text: string): boolean {
  return TELLS.test(text) || isIP(text) > 0;
}

/** The body has the same replacement for the name, so that the pointer still leads to the value. */
function nameInPointer(step: string): string {
  return tells(step) ? 'redacted' : step;
}

/** Matches headers that reveal the sender, its address or its credentials. */
const TELLING_HEADERS =
  /^(proxy-)?authorization$|^cookie$|forwarded|[-_]ip$|token|secret|api[-_]?key/i;

/** Matches the last word of a parameter that holds a credential: `access_key`, `key[]`, but not `monkey` or `design`. */
const CREDENTIAL =
  /(^|[^a-z])(keys?|o?auth|sig|sign|signature|hmac|jwt|pass|passphrase|pw|pwd|passwd|credentials?|session|sid)(\d+|\[\d*\])?$|^code$/i;

function isCredentialName(name: string): boolean {
  return CREDENTIAL.test(name.replace(/([a-z])([A-Z])/g, '$1_$2'));
}

type Headers = readonly (readonly [name: string, value: string])[];

/** Replaces headers that reveal a customer. Removes the signature, too, because replay signs the body again. */
export function redactHeaders(headers: Headers, signatureHeader: string): Headers {
  return removeSignature(headers, signatureHeader).map(([name, value]) => {
    return [name, TELLING_HEADERS.test(name) && value !== '' ? 'redacted' : value];
  });
}

export function removeSignature(headers: Headers, signatureHeader: string): Headers {
  const isIt = (name: string) => name.toLowerCase() === signatureHeader.toLowerCase();
  return headers.map(([name, value]) => [name, isIt(name) ? '' : value]);
}
