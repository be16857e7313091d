import { ApiError } from './api-error.js';
import type { Endpoint } from './endpoint.js';
import type { ClientSettings } from './settings.js';
import { pause, within } from './waiting.js';

/**
 * The part of `fetch` that the client needs: that of the runtime is one, and so is undici's with a proxy.
 * It is always called with text for an address, and has to heed `redirect` and `signal`.
 */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    redirect: 'manual';
    signal: AbortSignal;
  },
) => Promise<FetchResponse>;

/** The part of a `Response` that the client needs. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** A request as it goes out. */
export interface ApiRequest {
  readonly operation: string;
  readonly method: Endpoint['method'];
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** An answer that came in whole, whatever its status. */
export interface Answer {
  readonly status: number;
  readonly headers: FetchResponse['headers'];
  readonly text: string;
}

type Terms = Pick<ClientSettings, 'fetch' | 'timeoutMs' | 'retries'> & {
  readonly signal: AbortSignal | undefined;
};

/**
 * Sends a request, and again where that does no harm: GET, PUT and DELETE, after 429, 503 or no answer.
 *
 * @throws {ApiError} `timed_out` or `unreachable`, where there was no answer.
 * @throws The reason of the caller's signal, when it fires.
 */
export async function exchange(request: ApiRequest, terms: Terms): Promise<Answer> {
  const tries = request.method === 'POST' ? 1 : terms.retries + 1;
  for (let tried = 1; ; tried++) {
    const result = await tryOnce(request, terms);
    const pauseMs = tried < tries ? pauseAfter(result, tried) : undefined;
    if (pauseMs !== undefined) await pause(pauseMs, terms.signal);
    else if (result instanceof Fault) throw result.toError(request, tried);
    else return result;
  }
}

/** Why there was no answer. */
class Fault {
  readonly code: 'timed_out' | 'unreachable';
  readonly reason: string;

  constructor(code: Fault['code'], reason: string) {
    this.code = code;
    this.reason = reason;
  }

  toError({ operation, method, url }: ApiRequest, tried: number): ApiError {
    const often = tried > 1 ? ` in ${tried} tries` : '';
    const advice =
      method === 'POST'
        ? 'It may have been done all the same: look before you send it again'
        : 'Look at baseUrl, and whether the storefront is up';
    const message = `${new URL(url).origin} gave no whole answer${often}: ${this.reason}. ${advice}.`;
    return new ApiError(this.code, message, { operation });
  }
}

async function tryOnce(
  { method, url, headers, body }: ApiRequest,
  { fetch, timeoutMs, signal }: Terms,
): Promise<Answer | Fault> {
  const late = new Fault('timed_out', `it took longer than ${timeoutMs} ms`);
  try {
    return await within(timeoutMs, late, signal, async (signal) => {
      const init = { method, headers, redirect: 'manual', signal } as const;
      const response = await fetch(url, body === undefined ? init : { ...init, body });
      return { status: response.status, headers: response.headers, text: await response.text() };
    });
  } catch (error) {
    signal?.throwIfAborted();
    return error instanceof Fault ? error : new Fault('unreachable', nameFault(error));
  }
}

/** The code of what has failed, such as `ECONNREFUSED`. A message could hold the address with its query. */
function nameFault(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth++) {
    if ('code' in cause && typeof cause.code === 'string' && /^\w{3,40}$/.test(cause.code)) {
      return cause.code;
    }
    cause = cause.cause;
  }
  return 'the connection failed';
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
const MAX_RETRY_AFTER_MS = 60_000;

/** How long to wait before the next try; `undefined` where there is to be none. */
function pauseAfter(result: Answer | Fault, tried: number): number | undefined {
  const isFault = result instanceof Fault;
  if (!isFault && result.status !== 429 && result.status !== 503) return undefined;
  const askedMs = (isFault ? undefined : readRetryAfter(result)) ?? 0;
  if (askedMs > MAX_RETRY_AFTER_MS) return undefined;
  const backOffMs = Math.min(FIRST_PAUSE_MS * 2 ** (tried - 1), MAX_PAUSE_MS);
  // Spread, so that clients that were turned away together do not come back together.
  return askedMs + backOffMs * (0.5 + Math.random() / 2);
}

/** `Retry-After` in milliseconds, whether it is seconds or a date; `undefined` where it is neither. */
export function readRetryAfter({ headers }: Pick<Answer, 'headers'>): number | undefined {
  const value = headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
