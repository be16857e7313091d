import { explained } from '../explained.js';

/** Codes of {@link ApiError}: stable, to be matched on. */
export type ApiErrorCode =
  /** 403: the account may not do this. To do: use credentials of an account that may. */
  | 'forbidden'
  /**
   * 406: something other than JSON was asked for. To do: look what stands between the client and the service:
   * the client asks for JSON.
   */
  | 'not_acceptable'
  /**
   * 404: there is no such record. After a DELETE that was tried again, it may be the first try that deleted
   * it. To do: look at the id, and at whose credentials these are.
   */
  | 'not_found'
  /**
   * 429: too many requests. `retryAfterMs` says when to come again, where the provider does. To do: come
   * again then, and ask for less at once.
   */
  | 'rate_limited'
  /**
   * The provider sends the client elsewhere, where it does not go with its credentials. To do: if that is the
   * storefront, make it the `baseUrl`.
   */
  | 'redirected'
  /**
   * 400, or another 4xx: `errors` has one text for each check that failed. To do: change what `errors` names.
   */
  | 'request_invalid'
  /**
   * The answer is no JSON, or no record of the specification. To do: look at `baseUrl`: a page of a proxy is
   * no answer of the service.
   */
  | 'response_invalid'
  /** 500, or another 5xx. To do: try again later. What was sent with POST may have been done: look first. */
  | 'server_failed'
  /**
   * There was no whole answer within `timeout`. To do: look whether the service is up, or raise `timeout`.
   * What was sent with POST may have been done: look first.
   */
  | 'timed_out'
  /**
   * 401: the credentials are wrong. To do: set the access token, or the email and the API key, of the
   * account.
   */
  | 'unauthenticated'
  /** 503: offline for maintenance. To do: try again later. */
  | 'unavailable'
  /**
   * There was no whole answer, because the connection failed. To do: look at `baseUrl`, at the network, and
   * whether the service is up.
   */
  | 'unreachable';

/** What an {@link ApiError} knows beside its message. */
interface About {
  readonly operation: string;
  readonly status?: number | undefined;
  readonly errors?: readonly string[];
  readonly retryAfterMs?: number | undefined;
}

/**
 * The provider has refused a call, or could not be asked (specification: Errors). The message is the
 * provider's where there is one, and ends in the place in docs/ that explains the code. Holds no credentials, and
 * nothing of what was sent unless the provider repeats it.
 *
 * @example
 * const product = await client.products.get('prd_1').catch((error: unknown) => {
 *   if (error instanceof ApiError && error.code === 'not_found') return undefined;
 *   throw error;
 * });
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  /** The method of the client that was called, such as `products.get`. */
  readonly operation: string;
  /** The HTTP status; `undefined` where there was no answer. */
  readonly status: number | undefined;
  /** What is wrong with what was sent, one text for each failed check; empty unless the status is 400. */
  readonly errors: readonly string[];
  /** When to ask again, in milliseconds, where the provider says so. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ApiErrorCode, message: string, about: About) {
    super(explained(message, `errors.md#api-${code}`));
    this.code = code;
    this.operation = about.operation;
    this.status = about.status;
    this.errors = about.errors ?? [];
    this.retryAfterMs = about.retryAfterMs;
  }
}
