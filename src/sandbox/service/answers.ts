import type { ERRORS } from '../../api/endpoint.js';

/** The status of an error (specification: Errors). */
export type ErrorStatus = keyof typeof ERRORS;

/** The messages of errors, for which the specification gives no text. */
export const MESSAGES: Readonly<Record<ErrorStatus, string>> = {
  400: 'Validation failed.',
  401: 'Unable to authenticate. In the sandbox, every key that begins with sk_test_ opens an account of its own.',
  403: 'You are not authorised for this action.',
  404: 'Resource not found.',
  406: 'JSON is the only format.',
  429: 'Rate limit reached.',
  500: 'Server problem, try again later.',
  503: 'Temporarily offline for maintenance.',
};

/** An error answer. The code that finds the error throws it, and the routes turn it into a response. */
export class ErrorAnswer extends Error {
  override readonly name = 'ErrorAnswer';
  readonly status: ErrorStatus;
  /** One text for each failed check. */
  readonly errors: readonly string[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ErrorStatus,
    about: {
      readonly message?: string;
      readonly errors?: readonly string[];
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(about.message ?? MESSAGES[status]);
    this.status = status;
    this.errors = about.errors ?? (status === 400 ? [this.message] : undefined);
    this.headers = about.headers ?? {};
  }

  toResponse(): Response {
    const { message, errors, status } = this;
    return json(status, errors ? { message, errors } : { message }, this.headers);
  }
}

const texts = new WeakMap<Response, string>();

/**
 * Returns a JSON response. Its text is kept beside it, because a body is a stream, which takes longer than all
 * the rest.
 */
export function json(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const text = JSON.stringify(body);
  const response = new Response(null, {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
  texts.set(response, text);
  return response;
}

/** Returns a response with its text as its body, for callers without a port. */
export function toWhole(response: Response): Response {
  const text = texts.get(response);
  return text === undefined ? response : new Response(text, response);
}

/** Returns the text of a JSON response, for a server. */
export function textOf(response: Response): string | undefined {
  return texts.get(response);
}
