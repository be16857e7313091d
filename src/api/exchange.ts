import { safely } from '../errors/log.js';
import { toTime } from '../schemas/values.js';
import { ApiError } from './api-error.js';
import { type Call, withWarning } from './call.js';
import type { ClientSettings } from './client-options.js';
import { type FetchResponse, MAX_BYTES, readText } from './fetch.js';
import { pause, within } from './timeouts.js';

/** A request to the provider's service. */
export interface ApiRequest extends Call {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** A complete answer, whatever its status. */
export interface Answer {
  readonly status: number;
  readonly headers: FetchResponse['headers'];
  readonly text: string;
}

type Terms = Pick<ClientSettings, 'fetch' | 'timeoutMs' | 'retries' | 'watchers'> & {
  readonly signal: AbortSignal | undefined;
};

/**
 * Sends a request, and retries it if that is safe and may help.
 *
 * @throws {ApiError} `timed_out` or `unreachable`, if there was no answer; `response_invalid` if the answer
 *   is too long.
 * @throws The reason of the caller's signal, if it fires.
 */
export async function exchange(request: ApiRequest, terms: Terms): Promise<Answer> {
  const { operation, url } = request;
  for (let tried = 1; ; tried++) {
    terms.signal?.throwIfAborted();
    const startedAt = performance.now();
    const result = await tryOnce(request, terms);
    const isRetried = tried <= terms.retries && mayRetry(request, result);
    const retryInMs = isRetried ? pauseAfter(result, tried) : undefined;
    const { status, headers } = result;
    const fault = result instanceof Fault ? result.reason : undefined;
    const durationMs = performance.now() - startedAt;
    const about = { operation, url, attempt: tried, status, headers, fault, durationMs, retryInMs };
    for (const watch of terms.watchers) safely(() => watch(about));
    if (retryInMs !== undefined) await pause(retryInMs, terms.signal);
    else if (result instanceof Fault) throw result.toError(request, tried);
    else return result;
  }
}

/** Returns whether a request that failed may be retried. */
function mayRetry({ isRepeatable }: Call, result: Answer | Fault): boolean {
  if (result instanceof Fault) return !result.last && (isRepeatable || result.isUnsent);
  const { status } = result;
  return status === 429 || (isRepeatable && status >= 500 && status !== 501);
}

const NOT_CONNECTED = 'no connection was made';

/**
 * The reasons of faults that happen before anything is sent. `ConnectionRefused` is from earlier versions of
 * Bun.
 */
const UNSENT = [
  NOT_CONNECTED,
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Why there was no answer. */
class Fault {
  readonly code: 'timed_out' | 'unreachable';
  readonly reason: string;
  readonly status = undefined;
  readonly headers = undefined;
  /** The error that ends the call without a retry. Absent if the fault makes its own error. */
  readonly last: { readonly error: unknown } | undefined;

  constructor(code: Fault['code'], reason: string, last?: Fault['last']) {
    this.code = code;
    this.reason = reason;
    this.last = last;
  }

  /** Whether nothing of the request can have reached the provider. */
  get isUnsent(): boolean {
    return UNSENT.includes(this.reason);
  }

  toError(request: ApiRequest, tried: number): unknown {
    if (this.last) return this.last.error;
    const { operation, isRepeatable, url } = request;
    const often = tried > 1 ? ` in ${tried} tries` : '';
    const fault = `${new URL(url).origin} sent no complete answer${often}: ${this.reason}.`;
    const check = 'Check baseUrl, and whether the storefront is up.';
    const message = isRepeatable
      ? `${fault} ${check}`
      : this.isUnsent
        ? `${fault} The request was not carried out. ${check}`
        : withWarning(fault, request);
    return new ApiError(this.code, message, { operation, fault: this.reason });
  }
}

async function tryOnce(
  request: ApiRequest,
  { fetch, timeoutMs, signal }: Terms,
): Promise<Answer | Fault> {
  const { method, url, headers, body } = request;
  const late = new Fault('timed_out', `it took longer than ${timeoutMs} ms`);
  try {
    return await within(timeoutMs, late, signal, async (signal) => {
      const init = { method, headers, redirect: 'manual', signal } as const;
      const response = await fetch(url, body === undefined ? init : { ...init, body });
      const text = await readText(response);
      if (text === undefined) throw tooLong(request, response.status);
      return { status: response.status, headers: response.headers, text };
    });
  } catch (error) {
    if (signal?.aborted) {
      return new Fault('timed_out', 'the signal aborted the call', { error: signal.reason });
    }
    return error instanceof Fault ? error : new Fault('unreachable', nameFault(error));
  }
}

const MAX_MIB = MAX_BYTES / 1024 / 1024;

function tooLong(request: ApiRequest, status: number): Fault {
  const { operation, url } = request;
  const message =
    `The answer is over ${MAX_MIB} MiB, and was not read to its end. ` +
    `Check for a proxy between the client and ${new URL(url).origin}.`;
  const text = withWarning(message, request, status);
  const error = new ApiError('response_invalid', text, { operation });
  return new Fault('unreachable', `the answer is over ${MAX_MIB} MiB`, { error });
}

/** Returns the code of an error, such as `ECONNREFUSED`. Its message could hold the address with the query. */
function nameFault(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth++) {
    if ('code' in cause && typeof cause.code === 'string' && /^\w{3,40}$/.test(cause.code)) {
      return cause.code;
    }
    // Deno's error has no code.
    if (cause.message.includes('client error (Connect)')) return NOT_CONNECTED;
    cause = cause.cause;
  }
  return 'the connection failed';
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
const MAX_RETRY_AFTER_MS = 60_000;

/** Returns how long to wait before the next try; `undefined` if that is too long. */
function pauseAfter(result: Answer | Fault, tried: number): number | undefined {
  const askedMs = (result instanceof Fault ? undefined : readRetryAfter(result)) ?? 0;
  if (askedMs > MAX_RETRY_AFTER_MS) return undefined;
  const backOffMs = Math.min(FIRST_PAUSE_MS * 2 ** (tried - 1), MAX_PAUSE_MS);
  // Spread the retries, so that clients that were rejected together do not retry together.
  return askedMs + backOffMs * (0.5 + Math.random() / 2);
}

/** Returns `Retry-After` in milliseconds, given in seconds or as a date; `undefined` if it is neither. */
export function readRetryAfter({ headers }: Pick<Answer, 'headers'>): number | undefined {
  const value = headers.get('retry-after') ?? '';
  const ms = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) * 1000 : toTime(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
