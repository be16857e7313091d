/** Codes of {@link UsageError}: stable, to be matched on. */
export type UsageErrorCode =
  /** Something has read or parsed the body before the receiver could: mount it before the parser. */
  | 'body_consumed'
  /** A body that is neither bytes nor text, such as one that was parsed. */
  | 'body_not_bytes'
  /** A store, a queue or a ledger was given a client, a pool or a binding that it cannot use. */
  | 'client_invalid'
  /** `redrive()` was given what no store lists, such as an id. */
  | 'delivery_invalid'
  /** The Lambda handler was called with what is no HTTP event of API Gateway, a function URL or ALB. */
  | 'event_invalid'
  /** `.on()` names an event that nobody knows. The message has the nearest one. */
  | 'event_unknown'
  /** A saved delivery cannot be read, or does not exist. */
  | 'fixture_invalid'
  /** The function of `createGoods` gave nothing to be sent, too much, or a content type that is none. */
  | 'goods_invalid'
  /** Two handlers have one name. What each has done is stored under it. */
  | 'handler_duplicate'
  /** A handler that is no function, options of it that cannot be, or a `when` that gave neither true nor false. */
  | 'handler_invalid'
  /** `markDone()` names a handler that there is not, or that has no `oncePer`. The message has the nearest one. */
  | 'handler_unknown'
  /** A key that is no idempotency key, or an `oncePer` or `keyBy` that gave no text. */
  | 'key_invalid'
  /** An option of another name, type or range. */
  | 'option_invalid'
  /** The API client was given an id or a parameter that cannot be sent, or one of another name. */
  | 'parameter_invalid'
  /** An adapter was given neither a receiver nor a function that makes one. */
  | 'receiver_invalid'
  /** A handler was registered after the first delivery, which it would have missed. */
  | 'registered_late'
  /** The delivery is of another scope: each receiver has a queue of its own, and lists its own scope. */
  | 'scope_invalid'
  /** The secret is missing, empty, or the text of a value that is none, such as "undefined". */
  | 'secret_invalid'
  /** `replay()` was given what it cannot send to. */
  | 'target_invalid'
  /** A ledger was not given the transaction of the effect, or its transaction was ended. */
  | 'transaction_missing'
  /** `unwrap` gave no payload, or an event or an id that is no text. */
  | 'unwrap_invalid'
  /** The work of `ledger.transaction` in SQLite has to be synchronous. */
  | 'work_invalid';

/**
 * A mistake in the program that uses this package, never in what a sender sent.
 * The message says what to change. It is a `TypeError` with a stable `code`.
 *
 * @example
 * try {
 *   createReceiver({ secret: process.env.WEBHOOK_SECRET });
 * } catch (error) {
 *   if (error instanceof UsageError && error.code === 'secret_invalid') console.error(error.message);
 * }
 */
export class UsageError extends TypeError {
  override readonly name = 'UsageError';
  readonly code: UsageErrorCode;

  constructor(code: UsageErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Codes of {@link WebhookError}: stable, to be matched on. */
export type WebhookErrorCode =
  /** `close()` has ended before what was running had. */
  | 'closed_early'
  /** What `confirm` asks did not answer. The delivery comes again, unless `whenDown` has it accepted. */
  | 'confirmation_unavailable'
  /** A delivery is larger than the queue or its messages can hold. */
  | 'delivery_too_large'
  /** Told to a queue, so that it tries again: the delivery is not done yet. Of `markDone()`: its handler is running. */
  | 'delivery_unfinished'
  /** What came out of a queue is not proven to be genuine. It is kept, and not run. */
  | 'delivery_unproven'
  /** The handlers took longer than `timeout`. The delivery comes again. */
  | 'handler_timeout'
  /** A job in the queue is none of this package. */
  | 'job_invalid'
  /** The lease has lapsed, or another process has taken the delivery over: write nothing more. */
  | 'lease_lost'
  /** The store did not take how a delivery ended: it may be done once more. */
  | 'outcome_unrecorded'
  /** The queue gave no id, or is not there any more, so nothing may be stored. */
  | 'queue_invalid'
  /** A replayed delivery got no whole response. */
  | 'response_invalid'
  /** The tables of the store are missing, and could not be made. */
  | 'schema_missing'
  /** What is stored is of a newer version of this package: deploy that version here, too. */
  | 'schema_newer'
  /** The memory store holds only what is being processed: raise its bounds, or take a durable one. */
  | 'store_full'
  /** The store gave what does not fit its contract. */
  | 'store_invalid'
  /** The store failed. The sender is told 503 and comes again; `markDone()` has to be called again. */
  | 'store_unavailable'
  /** A store, a queue, a schema, a secret function or a target took too long. */
  | 'timed_out';

/**
 * Something went wrong while a verified delivery was processed, which is told to `hooks.onError`; or, in
 * `storefront-webhooks/testing`, a delivery that was replayed got no whole response.
 *
 * @example
 * const hooks = {
 *   onError: (error) => error instanceof WebhookError && metrics.increment(error.code),
 * };
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
