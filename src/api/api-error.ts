import { withDocsLink } from '../errors/docs-link.js';

/** The stable codes of {@link ApiError}, for programs to match on. */
export type ApiErrorCode =
  /** 403: the account may not do this. To do: use credentials of an account that may. */
  | 'forbidden'
  /**
   * 406: the request asked for something other than JSON. To do: check for a proxy between the client and the
   * service. The client itself asks for JSON.
   */
  | 'not_acceptable'
  /**
   * 404: there is no such record. If a DELETE was retried, its first try may have deleted the record. To do:
   * check the id, and whose credentials these are.
   */
  | 'not_found'
  /**
   * 429: too many requests. If the provider says when to retry, `retryAfterMs` has it. To do: retry then, and
   * send fewer requests at once.
   */
  | 'rate_limited'
  /**
   * The provider redirects the client to an address to which it does not send its credentials. To do: if that
   * is the storefront, make it the `baseUrl`. A POST may have been carried out: check before you send it again.
   */
  | 'redirected'
  /**
   * 400, or another 4xx. `errors` has one text for each check that failed. To do: change what `errors` names.
   */
  | 'request_invalid'
  /**
   * The answer is not valid JSON, not a record of the specification, or over 64 MiB. To do: check `baseUrl`.
   * The answer may be a proxy's page and not the service's. A POST may have been carried out, unless the status
   * is a 4xx: check before you send it again.
   */
  | 'response_invalid'
  /**
   * 500, or another 5xx, after all retries. To do: try again later. A POST may have been carried out: check
   * before you send it again.
   */
  | 'server_failed'
  /**
   * No complete answer arrived within `timeout`. To do: check whether the service is up, or raise `timeout`.
   * A POST may have been carried out: check before you send it again.
   */
  | 'timed_out'
  /**
   * 401: the credentials are wrong. To do: set the access token, or the email and the API key, of the
   * account.
   */
  | 'unauthenticated'
  /**
   * 503: offline for maintenance. To do: try again later. A POST may have been carried out, because a gateway
   * can answer 503 too: check before you send it again.
   */
  | 'unavailable'
  /**
   * No complete answer arrived, because the connection failed. To do: check `baseUrl`, the network, and
   * whether the service is up. A POST may have been carried out, unless the message says otherwise.
   */
  | 'unreachable';

/** The properties of an {@link ApiError} beside its message. */
interface About {
  readonly operation: string;
  readonly status?: number | undefined;
  readonly errors?: readonly string[];
  readonly retryAfterMs?: number | undefined;
  readonly fault?: string;
}

/**
 * The provider rejected a call, or could not be reached (specification: Errors). The message names the
 * operation, the provider's message, each check that failed, and the page in docs/ that explains the code. It
 * holds no credentials and no text that was sent: if the provider repeats one, the error has `[redacted]`
 * instead.
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
  /** The HTTP status; `undefined` if there was no answer. */
  readonly status: number | undefined;
  /** One text for each check that the request failed. Empty unless the status is 400. */
  readonly errors: readonly string[];
  /** How long the provider asks to wait before a retry, in milliseconds; `undefined` if it does not. */
  readonly retryAfterMs: number | undefined;
  /** Why there was no complete answer, such as `ECONNREFUSED`; `undefined` if there was one. */
  readonly fault: string | undefined;

  constructor(code: ApiErrorCode, message: string, about: About) {
    super(withDocsLink(`${about.operation}: ${message}`, `errors.md#api-${code}`));
    this.code = code;
    this.operation = about.operation;
    this.status = about.status;
    this.errors = about.errors ?? [];
    this.retryAfterMs = about.retryAfterMs;
    this.fault = about.fault;
  }
}
