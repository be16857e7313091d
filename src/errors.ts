/** Codes of {@link UsageError}: stable, to be matched on. */
export type UsageErrorCode =
  | 'body_consumed'
  | 'body_not_bytes'
  | 'client_invalid'
  | 'delivery_invalid'
  | 'event_invalid'
  | 'event_unknown'
  | 'fixture_invalid'
  | 'handler_duplicate'
  | 'handler_invalid'
  | 'key_invalid'
  | 'option_invalid'
  | 'receiver_invalid'
  | 'registered_late'
  | 'scope_invalid'
  | 'secret_invalid'
  | 'target_invalid'
  | 'transaction_missing'
  | 'work_invalid';

/**
 * A mistake in the program that uses this package, never in what a sender sent.
 * The message says what to change. It is a `TypeError` with a stable `code`.
 */
export class UsageError extends TypeError {
  override readonly name = 'UsageError';
  readonly code: UsageErrorCode;

  constructor(code: UsageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Codes of {@link WebhookError}: stable, to be matched on. */
export type WebhookErrorCode =
  | 'response_invalid'
  | 'delivery_too_large'
  | 'delivery_unfinished'
  | 'delivery_unproven'
  | 'handler_timeout'
  | 'job_invalid'
  | 'lease_lost'
  | 'outcome_unrecorded'
  | 'queue_invalid'
  | 'schema_missing'
  | 'schema_newer'
  | 'store_full'
  | 'store_invalid'
  | 'store_unavailable'
  | 'timed_out';

/**
 * Something went wrong while a verified delivery was processed, which is told to `hooks.onError`; or, in
 * `storefront-webhooks/testing`, a delivery that was replayed got no whole answer.
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
