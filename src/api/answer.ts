import { parseAddress } from '../address.js';
import { printable } from '../report/text.js';
import type { Issue } from '../schemas/issue.js';
import { isJsonObject } from '../schemas/json.js';
import type { ResourceSchema } from '../schemas/resource.js';
import { ApiError, type ApiErrorCode } from './api-error.js';
import type { ReadOptions } from './call-options.js';
import { ERRORS } from './endpoint.js';
import { type Answer, readRetryAfter } from './exchange.js';
import type { Page } from './list.js';

const MAX_MESSAGE = 1_000;
const MAX_ERRORS = 100;

/** The error that an answer other than 2xx is; `undefined` where it is one. */
export function toApiError(
  operation: string,
  answer: Answer,
  secrets: readonly string[],
): ApiError | undefined {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return undefined;
  // Where a runtime hides a redirect, its status is 0.
  if (status < 400) {
    return new ApiError('redirected', describeRedirect(headers.get('location')), {
      operation,
      status,
    });
  }
  const body = parse(answer);
  const { message, errors } = isJsonObject(body) ? body : {};
  const clean = (text: string) => printable(redact(text, secrets), MAX_MESSAGE);
  const said = typeof message === 'string' && message !== '' ? message : `status ${status}`;
  return new ApiError(toCode(status), clean(said), {
    operation,
    status,
    errors: Array.isArray(errors)
      ? errors
          .filter((error) => typeof error === 'string')
          .slice(0, MAX_ERRORS)
          .map(clean)
      : [],
    retryAfterMs: readRetryAfter(answer),
  });
}

const codes: Readonly<Record<number, ApiErrorCode>> = ERRORS;

function toCode(status: number): ApiErrorCode {
  return codes[status] ?? (status < 500 ? 'request_invalid' : 'server_failed');
}

function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
}

function describeRedirect(location: string | null): string {
  const target = printable(parseAddress(location ?? '')?.origin ?? 'another place');
  return `The answer leads to ${target}, where the client does not go with its credentials. If that is the storefront, make it the baseUrl.`;
}

/** The JSON of an answer; `undefined` where it is none. */
function parse({ text }: Answer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The record that an answer holds.
 *
 * @throws {ApiError} `response_invalid`
 */
export function readRecord<T>(
  operation: string,
  answer: Answer,
  schema: ResourceSchema<T>,
  { onIssues }: ReadOptions,
): T {
  const body = parse(answer);
  if (body === undefined) throw invalid(operation, answer, 'is no JSON');
  const reading = schema.read(body);
  if (reading.issues.length > 0) onIssues?.(body, reading.issues);
  if ('value' in reading) return reading.value;
  throw invalid(operation, answer, `does not fit (${describeIssues(reading.issues)})`);
}

/**
 * The page of records that an answer holds.
 *
 * @throws {ApiError} `response_invalid`
 */
export function readPage<T>(
  operation: string,
  answer: Answer,
  page: number,
  schema: ResourceSchema<T>,
  { onIssues }: ReadOptions,
): Page<T> {
  const body = parse(answer);
  if (!Array.isArray(body)) throw invalid(operation, answer, 'is no list');
  const items = body.flatMap((record, index) => {
    const reading = schema.read(record);
    if (reading.issues.length > 0) onIssues?.(record, reading.issues);
    if ('value' in reading) return [reading.value];
    if (onIssues) return [];
    const what = `has a record that does not fit, number ${index + 1} (${describeIssues(reading.issues)})`;
    throw invalid(operation, answer, `${what}. Go on without it by { onIssues }`);
  });
  const total = answer.headers.get('x-total-pages') ?? '';
  return { items, page, totalPages: /^\d+$/.test(total) ? Number(total) : undefined };
}

function describeIssues(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join(', ');
}

function invalid(operation: string, { status }: Answer, fault: string): ApiError {
  return new ApiError('response_invalid', `The answer to ${operation} ${fault}.`, {
    operation,
    status,
  });
}
