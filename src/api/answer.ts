import { printable } from '../errors/text.js';
import { parseAddress } from '../runtime/address.js';
import type { Issue } from '../schemas/issue.js';
import type { ResourceSchema } from '../schemas/resource.js';
import { isJsonObject } from '../schemas/values.js';
import { ApiError, type ApiErrorCode } from './api-error.js';
import { type Call, withWarning } from './call.js';
import type { ReadOptions } from './call-options.js';
import { ERRORS } from './endpoint.js';
import { type Answer, readRetryAfter } from './exchange.js';
import type { Page } from './list.js';

const MAX_MESSAGE = 1_000;
const MAX_ERRORS = 100;
/** The most characters that are searched for private texts, of which a form may have many thousands. */
const MAX_SEARCHED = 10_000;
/** Shorter texts are not private: too many messages would have them by chance. */
const MIN_PRIVATE = 6;

/**
 * Returns the error for an answer whose status is not 2xx; `undefined` for a 2xx.
 *
 * @param secrets - Texts that the error must not hold, even if the provider repeats them.
 * @param form - The body that was sent, whose texts the error must not hold either.
 */
export function toApiError(
  call: Call,
  answer: Answer,
  secrets: readonly string[],
  form?: string,
): ApiError | undefined {
  const { operation } = call;
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return undefined;
  // The status is 0 if a runtime hides a redirect.
  if (status < 400) {
    const message = withWarning(describeRedirect(headers.get('location')), call, status);
    return new ApiError('redirected', message, { operation, status });
  }
  const body = parse(answer);
  const { message, errors } = isJsonObject(body) ? body : {};
  const said = typeof message === 'string' && message !== '' ? message : `status ${status}`;
  const listed = (Array.isArray(errors) ? errors : [])
    .filter((error) => typeof error === 'string')
    .slice(0, MAX_ERRORS);
  const goods = new URLSearchParams(form).getAll('info');
  const clean = redaction([said, ...listed], [...secrets, ...privateTexts(form)], goods);
  const faults = listed.map((error) => printable(clean(error), MAX_MESSAGE));
  // Redact first: a text that was sent may end in a dot.
  const parts = [clean(said).replace(/(?<![.:\s])[.:\s]+$/, ''), faults.join(', ')];
  const whole = printable(parts.filter(Boolean).join(': '), MAX_MESSAGE);
  return new ApiError(toCode(status), withWarning(whole, call, status), {
    operation,
    status,
    errors: faults,
    retryAfterMs: readRetryAfter(answer),
  });
}

const codes: Readonly<Record<number, ApiErrorCode>> = ERRORS;

function toCode(status: number): ApiErrorCode {
  return codes[status] ?? (status < 500 ? 'request_invalid' : 'server_failed');
}

/**
 * Returns a function that redacts the given texts, in any case. Texts beyond the first {@link MAX_SEARCHED} characters
 * are left out as a whole: a cut could leave half of a secret.
 *
 * @param goods - Texts of which any part may be a secret: only the seller knows for sure what separates the goods.
 */
function redaction(
  texts: readonly string[],
  secrets: readonly string[],
  goods: readonly string[],
): (text: string) => string {
  const searched = new Set<string>();
  let length = 0;
  for (const text of texts) {
    length += text.length;
    if (length > MAX_SEARCHED) break;
    searched.add(text);
  }
  const all = toLower([...searched].join('\n'));
  const parts = new Set<string>();
  for (let at = 0; at <= all.length - MIN_PRIVATE; at++) {
    const part = all.slice(at, at + MIN_PRIVATE);
    if (!/\s/.test(part)) parts.add(part);
  }
  const found = new Set(secrets.map(toLower).filter((secret) => secret && all.includes(secret)));
  for (const info of goods.map(toLower)) {
    for (let at = 0; at <= info.length - MIN_PRIVATE; at++) {
      const part = info.slice(at, at + MIN_PRIVATE);
      if (parts.has(part)) found.add(part);
    }
  }
  return (text) =>
    searched.has(text) ? cover(text, found) : `a text of ${text.length} characters`;
}

/** Replaces all parts of a text that are among the secrets, which may overlap. */
function cover(text: string, secrets: ReadonlySet<string>): string {
  const lower = toLower(text);
  const isSecret = new Uint8Array(text.length);
  for (const secret of secrets) {
    for (let at = lower.indexOf(secret); at !== -1; at = lower.indexOf(secret, at + 1))
      isSecret.fill(1, at, at + secret.length);
  }
  let rest = '';
  for (let at = 0; at < text.length; at++) {
    if (!isSecret[at]) rest += text.charAt(at);
    else if (!isSecret[at - 1]) rest += '[redacted]';
  }
  return rest;
}

/** Returns a text of the same length, with small letters. */
function toLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Returns the texts of a form that may be secret or a customer's, and the single goods in `info`: all but short ones
 * and names such as `bitcoin`.
 */
function privateTexts(form = ''): string[] {
  const fields = new URLSearchParams(form);
  const delimiter = fields.get('stock_delimiter') || ',';
  const texts = [...fields.values()];
  const items = fields.getAll('info').flatMap((info) => [info, ...info.split(delimiter)]);
  const goods = items.flatMap((item) => [item, ...item.split(/[,;|\t\r\n]/)]);
  const trimmed = [...texts, ...goods].map((text) => text.trim());
  return [...new Set([...texts, ...trimmed])].filter(
    (text) => text.length >= MIN_PRIVATE && !/^[a-z_:]+$/.test(text),
  );
}

function describeRedirect(location: string | null): string {
  const target = printable(parseAddress(location ?? '')?.origin ?? 'another address');
  return `The answer redirects to ${target}, but the client does not send its credentials there. If that is the storefront, make it the baseUrl.`;
}

/** Returns the JSON of an answer; `undefined` if its text is not valid JSON. */
function parse({ text }: Answer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads the record in an answer.
 *
 * @throws {ApiError} `response_invalid`
 */
export function readRecord<T>(
  call: Call,
  answer: Answer,
  schema: ResourceSchema<T>,
  { onIssues }: ReadOptions,
): T {
  const body = parse(answer);
  if (body === undefined) throw invalid(call, answer, 'is not valid JSON');
  const reading = schema.read(body);
  if (reading.issues.length > 0) onIssues?.(body, reading.issues);
  if ('value' in reading) return reading.value;
  throw invalid(call, answer, `does not fit (${describeIssues(reading.issues)})`);
}

/**
 * Reads the page of records in an answer.
 *
 * @throws {ApiError} `response_invalid`
 */
export function readPage<T>(
  call: Call,
  answer: Answer,
  page: number,
  schema: ResourceSchema<T>,
  { onIssues, onUnreadable }: ReadOptions & { readonly onUnreadable: () => void },
): Page<T> {
  const body = parse(answer);
  if (!Array.isArray(body)) throw invalid(call, answer, 'is not a list');
  const items = body.flatMap((record, index) => {
    const reading = schema.read(record);
    if (reading.issues.length > 0) onIssues?.(record, reading.issues);
    if ('value' in reading) return [reading.value];
    onUnreadable();
    if (onIssues) return [];
    const what = `has a record that does not fit, number ${index + 1} (${describeIssues(reading.issues)})`;
    throw invalid(call, answer, `${what}. To leave such records out, pass { onIssues }`);
  });
  const total = answer.headers.get('x-total-pages') ?? '';
  return { items, page, totalPages: /^\d+$/.test(total) ? Number(total) : undefined };
}

function describeIssues(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join(', ');
}

function invalid(call: Call, { status }: Answer, fault: string): ApiError {
  const message = withWarning(`The answer ${fault}.`, call, status);
  return new ApiError('response_invalid', message, { operation: call.operation, status });
}
