import type { ERRORS } from '../../api/endpoint.js';

/** The status of an error (specification: Errors). */
export type ErrorStatus = keyof typeof ERRORS;

/** What is answered where the specification gives no text. */
export const MESSAGES: Readonly<Record<ErrorStatus, string>> = {
  400: 'Validation failed.',
  401: 'Unable to authenticate. In the sandbox, every key that begins with sk_test_ opens an account of its own.',
  403: 'You are not authorised for this action.',
  404: 'Resource not found.',
  406: 'There is no other format than JSON.',
  429: 'Rate limit reached.',
  500: 'Server problem, try again later.',
  503: 'Temporarily offline for maintenance.',
};

/** An answer that is an error: thrown by whatever finds out, and answered in one place. */
export class ErrorAnswer extends Error {
  override readonly name = 'ErrorAnswer';
  readonly status: ErrorStatus;
  /** One text for each check that failed. */
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

/** An answer in JSON. Its text is apart from it: a body is a stream, which takes longer than all the rest. */
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

/** An answer with its text in it, as whoever uses no port reads it. */
export function toWhole(response: Response): Response {
  const text = texts.get(response);
  return text === undefined ? response : new Response(text, response);
}

/** The text of an answer in JSON, for a server. */
export function textOf(response: Response): string | undefined {
  return texts.get(response);
}
