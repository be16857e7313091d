import type { Issue } from './schemas/issue.js';

/**
 * How a delivery ended.
 *
 * - `handled`: its handlers are done. `parked`: kept by `onInvalid`, or durably as a dead letter.
 * - `duplicate`: it was done before. `ignored`: no handler is for it. `queued`: durably handed to a queue.
 * - `rejected`: the sender's mistake. `failed`: a handler threw or ran out of time.
 * - `busy`: being processed elsewhere. `unavailable`: the store, or what `confirm` asks, is down, or the
 *   receiver is closing.
 */
export type Outcome = (typeof OUTCOMES)[number];

export const OUTCOMES = [
  'handled',
  'parked',
  'duplicate',
  'ignored',
  'queued',
  'rejected',
  'failed',
  'busy',
  'unavailable',
] as const;

const REJECTIONS = {
  /**
   * The request was no POST. To do: nothing, where somebody looked at the address with a browser. Else look
   * what changes the method on its way, such as a redirect.
   */
  method_not_allowed: [405, 'Send webhooks with POST.'],
  /**
   * The signature is missing, or is not the one of these bytes. To do: look it up in docs/debug.md: stderr
   * and `detail` name the cause.
   */
  signature_invalid: [401, 'The signature is missing or wrong.'],
  /** `verify.allow` of `createGoods` has said no. To do: if the call was genuine, change `verify.allow`. */
  call_refused: [403, 'This call is not allowed.'],
  /**
   * No header names the event, or two do. To do: set `headerPrefix` as the provider's headers begin; with
   * bodies that name their event, set `unwrap`.
   */
  event_header_invalid: [400, 'The event header is missing, or was given more than once.'],
  /**
   * The body came with a `Content-Encoding`, such as gzip. To do: have what is before the receiver pass
   * bodies on as they came: docs/debug.md#encoding.
   */
  encoding_unsupported: [415, 'Send the body without a content encoding.'],
  /**
   * The body is larger than `limit`, or than what is before the receiver takes. To do: raise `limit`, if the
   * provider sends as much.
   */
  body_too_large: [413, 'The body is larger than this receiver accepts.'],
  /**
   * The body did not arrive within `bodyTimeout`. To do: nothing, where it happens now and then: it comes
   * again. Else look what holds bodies up on their way.
   */
  body_late: [408, 'The body did not arrive in time.'],
  /** The connection ended before the body did. To do: nothing, it comes again. */
  body_incomplete: [400, 'The body could not be read whole.'],
  /**
   * The body is not JSON in UTF-8. To do: where the signature held, ask the provider. Else nothing: it was
   * none of theirs.
   */
  body_not_json: [400, 'The body is not JSON in UTF-8.'],
  /**
   * The signature held, and the payload does not fit its event: a field is missing or of another type, or the
   * state of the order contradicts the event. To do: look at the fields that stderr names. Where the provider
   * means it so, give the event a schema in `events`, or keep it by `onInvalid`.
   */
  payload_invalid: [422, 'The payload does not fit its event.'],
} as const;

/** Why a request was refused: stable, to be matched on. */
export type RejectionCode = keyof typeof REJECTIONS;

/**
 * Why a delivery was refused: the sender's mistake, so an answer and not an error.
 *
 * @example
 * const hooks: Hooks = {
 *   onRejected: ({ code, detail }) => log(code, detail),
 * };
 */
export class Rejection {
  readonly outcome = 'rejected';
  readonly status: number;
  readonly code: RejectionCode;
  readonly message: string;
  /** Whether the signature held: then this was a genuine delivery, and nobody has handled it. */
  readonly verified: boolean;
  /** The id and the event as the sender claims them, where the headers could be read. */
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** What is wrong with the payload; empty unless `code` is `payload_invalid`. */
  readonly issues: readonly Issue[];
  /**
   * What was seen, and what to change if the delivery was a genuine one. For who runs the receiver, and
   * never part of an answer. Holds names of headers and no values.
   */
  readonly detail: string | undefined;

  constructor(
    code: RejectionCode,
    about: Partial<Pick<Rejection, 'verified' | 'id' | 'event' | 'issues' | 'detail'>> = {},
  ) {
    const [status, message] = REJECTIONS[code];
    this.status = status;
    this.code = code;
    this.message = message;
    this.verified = about.verified ?? false;
    this.id = about.id;
    this.event = about.event;
    this.issues = about.issues ?? [];
    this.detail = about.detail;
  }
}

/** What became of a request, or of a delivery: told apart by its `outcome`. */
export type Result = Dispatched | Rejection;

/** What became of a verified delivery. */
export interface Dispatched {
  readonly outcome: Exclude<Outcome, 'rejected'>;
  /** Names of the handlers that ran to their end in this attempt. */
  readonly ran: readonly string[];
  /** Names of the handlers that their `when` left out; absent where there are none. */
  readonly skipped?: readonly string[] | undefined;
  /** 1 for the first attempt at this delivery; absent where none was made. */
  readonly attempt?: number | undefined;
  /** When to ask again, for `busy` and `unavailable`. */
  readonly retryAfterMs?: number | undefined;
  /** The idempotency key that it was processed under; absent where it was not. */
  readonly key?: string | undefined;
}

/** What a request is answered with, free of any framework: by a receiver with text, by goods also with bytes. */
export interface WebhookResponse<Body extends string | Uint8Array = string> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, which holds no secret, no signature, no payload data and nothing of an error; or the goods. */
  readonly body: Body;
  readonly outcome: Outcome;
  /** Names of the handlers that ran to their end; not sent. */
  readonly ran: readonly string[];
  /**
   * Settles when the store has taken what it could not take before the response: to be given to `waitUntil`,
   * where a platform ends what nobody waits for.
   */
  readonly recorded?: Promise<unknown> | undefined;
}

const RESPONSES = {
  handled: [200, 'Handled.'],
  parked: [200, 'Kept for a person to look at.'],
  duplicate: [200, 'Done before.'],
  ignored: [200, 'Nobody here handles this delivery.'],
  queued: [200, 'Queued.'],
  failed: [500, 'The webhook could not be handled. Send it again.'],
  busy: [503, 'This delivery is being handled. Ask again later.'],
  unavailable: [503, 'Not available now. Send it again later.'],
} as const satisfies Record<Dispatched['outcome'], readonly [status: number, message: string]>;

/** The header in which the answer to a delivery carries its receipt. */
export const RECEIPT_HEADER = 'webhook-receipt';

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/**
 * Step 7: the response to a verified delivery, or to a refused one.
 *
 * @param receipt - Stands in a header and in the body: proxies drop headers, and logs keep bodies.
 */
export function toResponse(result: Result, receipt?: string): WebhookResponse {
  const { outcome } = result;
  const [status, message] =
    outcome === 'rejected' ? [result.status, result.message] : RESPONSES[outcome];
  const errors = outcome === 'rejected' ? faultsOf(result) : undefined;
  return {
    status,
    headers: {
      ...JSON_HEADERS,
      ...(receipt === undefined ? {} : { [RECEIPT_HEADER]: receipt }),
      ...(status === 405 ? { allow: 'POST' } : {}),
      ...(status === 503 ? { 'retry-after': toSeconds(result) } : {}),
    },
    body: JSON.stringify({ message, outcome, errors, receipt }),
    outcome,
    ran: outcome === 'rejected' ? [] : result.ran,
  };
}

function faultsOf({ issues }: Rejection): string[] | undefined {
  const fields = new Set(
    issues.map(({ path, foreign }) => (foreign ? '' : path.split('.')[0]) || 'payload'),
  );
  return fields.size > 0 ? Array.from(fields, (field) => `${field} is not as expected`) : undefined;
}

function toSeconds(result: Result): string {
  const { retryAfterMs = 1000 } = result.outcome === 'rejected' ? {} : result;
  return String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
}
