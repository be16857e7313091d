import type { Issue } from '../schemas/issue.js';

/**
 * How a delivery ended.
 *
 * - `handled`: all its handlers have finished. `parked`: kept by `onInvalid`, or in the store as a dead letter.
 * - `duplicate`: it was handled before. `ignored`: no handler matches it. `queued`: stored in the queue.
 * - `rejected`: the sender made a mistake. `failed`: a handler threw or ran out of time.
 * - `busy`: another process or request is handling it. `unavailable`: the store, or the service that `confirm`
 *   uses, is down, or the receiver is closing or overloaded.
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
   * The request was not a POST. To do: nothing, if someone opened the address in a browser. Otherwise find out
   * what changes the method on the way, such as a redirect.
   */
  method_not_allowed: [405, 'Send webhooks with POST.'],
  /**
   * The signature is missing, or does not match these bytes. To do: look the cause up in docs/debug.md: stderr and
   * `detail` name it.
   */
  signature_invalid: [401, 'The signature is missing or wrong.'],
  /** `verify.allow` of `createGoods` did not allow the call. To do: if the call was genuine, change `verify.allow`. */
  call_refused: [403, 'This call is not allowed.'],
  /**
   * No header names the event, or two do. To do: set `headerPrefix` to the prefix of the provider's headers; if
   * the bodies name their event, set `unwrap`.
   */
  event_header_invalid: [400, 'The event header is missing, or was given more than once.'],
  /**
   * The body has a `Content-Encoding`, such as gzip. To do: configure the proxy before the receiver to pass bodies
   * on unchanged: docs/debug.md#encoding.
   */
  encoding_unsupported: [415, 'Send the body without a content encoding.'],
  /**
   * The body is larger than `limit`. To do: raise `limit`, if the provider sends bodies of that size.
   */
  body_too_large: [413, 'The body is larger than this receiver accepts.'],
  /**
   * The body did not arrive within `bodyTimeout`. To do: nothing, if it is rare: the provider retries. Otherwise
   * find out what delays bodies on the way.
   */
  body_late: [408, 'The body did not arrive in time.'],
  /**
   * The connection ended before the body did, or something before the receiver has read or cut the body. To do: nothing,
   * if it is rare: the provider retries. Otherwise remove the cause that `detail` names: docs/debug.md#lost-body.
   */
  body_incomplete: [400, 'The body is incomplete.'],
  /**
   * The body is not JSON in UTF-8. To do: if the signature matched, ask the provider. Otherwise nothing: the
   * provider did not send it.
   */
  body_not_json: [400, 'The body is not JSON in UTF-8.'],
  /**
   * The signature matches, but the payload does not fit its event: a field is missing or of another type, or the
   * state of the order contradicts the event. To do: look at the fields that stderr names. If the provider means
   * to send them so, give the event a schema in `events`, or keep the delivery by `onInvalid`.
   */
  payload_invalid: [422, 'The payload does not fit its event.'],
} as const;

/** Why a request was rejected. The codes are stable, to be matched on. */
export type RejectionCode = keyof typeof REJECTIONS;

/**
 * A rejected request, and why: the sender made the mistake, so this is an answer and not an error.
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
  /** Whether the signature matched. If so, this was a genuine delivery, and it has not been handled. */
  readonly verified: boolean;
  /** The id and the event as the sender claims them, if the headers could be read. */
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** The faults of the payload; empty unless `code` is `payload_invalid`. */
  readonly issues: readonly Issue[];
  /**
   * The observation of the receiver, and what to change if the delivery was genuine. For the operator, and never part of an
   * answer. Contains names of headers and no values.
   */
  readonly detail: string | undefined;

  constructor(
    code: RejectionCode,
    about: Partial<Pick<Rejection, 'verified' | 'id' | 'event' | 'issues' | 'detail'>> = {},
  ) {
    [this.status, this.message] = REJECTIONS[code];
    this.code = code;
    this.verified = about.verified ?? false;
    this.id = about.id;
    this.event = about.event;
    this.issues = about.issues ?? [];
    this.detail = about.detail;
  }
}

/** The result of a request or a delivery. `outcome` discriminates the types. */
export type Result = Dispatched | Rejection;

/** The result of a verified delivery. */
export interface Dispatched {
  readonly outcome: Exclude<Outcome, 'rejected'>;
  /** The names of the handlers that finished in this attempt. Empty if the time ran out or the lease was lost. */
  readonly ran: readonly string[];
  /** The names of the handlers that were skipped because of their `when`; absent if all ran. */
  readonly skipped?: readonly string[] | undefined;
  /** The number of this attempt, from 1, or of the attempt that a copy has waited for; absent if there was no attempt. */
  readonly attempt?: number | undefined;
  /**
   * The fields that do not fit, or that differ from the order, so that only `onInvalid` gets the delivery; absent if its
   * handlers get it.
   */
  readonly issues?: readonly Issue[] | undefined;
  /** Whether `onInvalid` has kept a `parked` delivery, now or before; absent if it is a dead letter in the store. */
  readonly kept?: boolean | undefined;
  /** After how long to retry, for `busy` and `unavailable`. */
  readonly retryAfterMs?: number | undefined;
  /**
   * Whether the handlers are done, the store has not recorded that yet, and a retry would repeat no handler without
   * `oncePer` or `transaction`.
   */
  readonly retryUnrecorded?: boolean | undefined;
  /** The idempotency key under which the delivery was processed; absent if it was not processed. */
  readonly key?: string | undefined;
}

/** The HTTP response, independent of any framework. The body of a receiver is text; goods may also be bytes. */
export interface WebhookResponse<Body extends string | Uint8Array = string> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON without any secret, signature, payload data or details of an error; or the goods. */
  readonly body: Body;
  readonly outcome: Outcome;
  /** The names of the handlers that finished. Not sent. */
  readonly ran: readonly string[];
  /**
   * Settles when nothing is left of what the response did not wait for: records that the store has not accepted yet,
   * late handlers, promises of hooks, and the deletion of expired records. Pass it to `waitUntil`, on a platform that
   * ends after the response.
   */
  readonly recorded?: Promise<unknown> | undefined;
  /**
   * Whether to answer 503 instead, if the platform stops before `recorded` settles: the handlers are done, the store has
   * not recorded that yet, and a retry would repeat no handler without `oncePer` or `transaction`.
   */
  readonly retryUnrecorded?: boolean | undefined;
}

const RESPONSES = {
  handled: [200, 'Handled.'],
  parked: [200, 'Parked for manual review.'],
  duplicate: [200, 'Already handled.'],
  ignored: [200, 'No handler matches this delivery.'],
  queued: [200, 'Queued.'],
  failed: [500, 'The webhook could not be handled. Retry it.'],
  busy: [503, 'This delivery is already being handled. Retry it later.'],
  unavailable: [503, 'Temporarily unavailable. Retry it later.'],
} as const satisfies Record<Dispatched['outcome'], readonly [status: number, message: string]>;

/** The response header that holds the receipt of a delivery. */
export const RECEIPT_HEADER = 'webhook-receipt';

/**
 * Step 7: makes the response to a delivery or a rejected request.
 *
 * @param receipt - Put in a header and in the body, because proxies drop headers, and logs keep bodies.
 */
export function toResponse(result: Result, receipt?: string): WebhookResponse {
  const { outcome } = result;
  const isRejected = outcome === 'rejected';
  const [status, message] = isRejected ? [result.status, result.message] : RESPONSES[outcome];
  const {
    retryAfterMs = 1000,
    ran = [],
    retryUnrecorded,
  }: Partial<Dispatched> = isRejected ? {} : result;
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' };
  if (receipt !== undefined) headers[RECEIPT_HEADER] = receipt;
  if (status === 405) headers.allow = 'POST';
  if (status === 503) headers['retry-after'] = `${Math.max(1, Math.ceil(retryAfterMs / 1000))}`;
  // Only the faults may need an escape in JSON.
  let body = `{"message":"${message}","outcome":"${outcome}"`;
  if (isRejected) body += faultsOf(result);
  if (receipt !== undefined) body += `,"receipt":"${receipt}"`;
  return {
    status,
    headers,
    body: `${body}}`,
    outcome,
    ran,
    retryUnrecorded,
  };
}

function faultsOf({ issues }: Rejection): string {
  const fields = new Set(
    issues.map(({ path, foreign }) => (foreign ? '' : path.split('.')[0]) || 'payload'),
  );
  if (fields.size === 0) return '';
  return `,"errors":${JSON.stringify(Array.from(fields, (field) => `${field} is not as expected`))}`;
}
