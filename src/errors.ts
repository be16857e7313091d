import { explained } from './explained.js';

/** Codes of {@link UsageError}: stable, to be matched on. */
export type UsageErrorCode =
  /**
   * Something has read or parsed the body before the receiver could. To do: mount the receiver before the
   * body parser. The message names the line.
   */
  | 'body_consumed'
  /**
   * A body that is neither bytes nor text, such as one that was parsed. To do: pass the raw body, such as
   * `Buffer` or `Uint8Array`, as it came.
   */
  | 'body_not_bytes'
  /**
   * A store, a queue or a ledger was given a client, a pool or a binding that it cannot use. To do: pass what
   * the message names: of the driver, and not of what is built on it.
   */
  | 'client_invalid'
  /**
   * `redrive()` was given what no store lists, such as an id. To do: pass what `store.list()` gives, as it
   * is.
   */
  | 'delivery_invalid'
  /**
   * The Lambda handler was called with what is no HTTP event of API Gateway, a function URL or ALB. To do:
   * call it from one of these, and pass the event on unchanged.
   */
  | 'event_invalid'
  /**
   * `.on()` names an event that nobody knows. The message has the nearest one. To do: mend the name, or give
   * the event a schema in the option `events`.
   */
  | 'event_unknown'
  /**
   * A saved delivery cannot be read, or does not exist. To do: mend the file at the place that the message
   * names, or save it again.
   */
  | 'fixture_invalid'
  /**
   * The function of `createGoods` gave nothing to be sent, too much, or a content type that is none. To do:
   * give a text, bytes or `{ body, contentType }`, or throw where there are no goods.
   */
  | 'goods_invalid'
  /**
   * Two handlers have one name. What each has done is stored under it. To do: give the later one another
   * `name`.
   */
  | 'handler_duplicate'
  /**
   * A handler that is no function, options of it that cannot be, or a `when` that gave neither true nor
   * false. To do: change the option that the message names.
   */
  | 'handler_invalid'
  /**
   * `markDone()` names a handler that there is not, or that has no `oncePer`. The message has the nearest
   * one. To do: give the `name` of a handler with `oncePer`.
   */
  | 'handler_unknown'
  /**
   * A key that is no idempotency key, or an `oncePer` or `keyBy` that gave no text. To do: have the function
   * give a text that is not empty, such as an id of the payload.
   */
  | 'key_invalid'
  /**
   * An option of another name, type or range. To do: change the option that the message names:
   * docs/options.md has each.
   */
  | 'option_invalid'
  /**
   * The API client was given an id or a parameter that cannot be sent, or one of another name. To do: change
   * the parameter that the message names.
   */
  | 'parameter_invalid'
  /**
   * An adapter was given neither a receiver nor a function that makes one. To do: pass what
   * `createReceiver()` or `createGoods()` gave, or a function that gives it.
   */
  | 'receiver_invalid'
  /**
   * A handler was registered after the first delivery, which it would have missed. To do: call `.on()` before
   * the server listens.
   */
  | 'registered_late'
  /**
   * `receive()` or `verify()` was given a request without a method or without headers. To do: pass
   * `{ method, url, headers, body }`, or use the adapter of your framework.
   */
  | 'request_invalid'
  /**
   * The delivery is of another scope: each receiver has a queue of its own, and lists its own scope. To do:
   * give each receiver its own queue, and redrive with the receiver of that scope.
   */
  | 'scope_invalid'
  /**
   * The secret is missing, empty, or the text of a value that is none, such as "undefined". To do: set the
   * variable that `secret` is read from to the signing secret of your account.
   */
  | 'secret_invalid'
  /**
   * `replay()` was given what it cannot send to. To do: pass a receiver, a whole address, a Node server, an
   * application or a fetch handler.
   */
  | 'target_invalid'
  /**
   * A ledger was not given the transaction of the effect, or its transaction was ended. To do: pass the
   * transaction in which the effect happens, before it ends.
   */
  | 'transaction_missing'
  /**
   * `unwrap` gave no payload, or an event or an id that is no text. To do: have the function give `{ payload
   * }`, with `event` and `id` as text where it gives them.
   */
  | 'unwrap_invalid'
  /**
   * The work of `ledger.transaction` in SQLite has to be synchronous. To do: take the `async` away, and do
   * what waits before or after it.
   */
  | 'work_invalid';

/**
 * A mistake in the program that uses this package, never in what a sender sent.
 * The message says what to change, and ends in the place in docs/ that explains it. It is a `TypeError` with a
 * stable `code`.
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
    super(explained(message, `errors.md#${code}`), options);
    this.code = code;
  }
}

/** Codes of {@link WebhookError}: stable, to be matched on. */
export type WebhookErrorCode =
  /**
   * `close()` has ended before what was running had. To do: nothing, it comes again. Where this is often so,
   * raise `timeoutMs`, if the platform gives a process that long.
   */
  | 'closed_early'
  /**
   * What `confirm` asks did not answer. The delivery comes again, unless `whenDown` has it accepted. To do:
   * look whether the provider's service is up, and whether the credentials of the client hold.
   */
  | 'confirmation_unavailable'
  /**
   * A delivery is larger than the queue or its messages can hold. To do: give the queue what the message
   * names, or lower `limit`.
   */
  | 'delivery_too_large'
  /**
   * Told to a queue, so that it tries again: the delivery is not done yet. Of `markDone()`: its handler is
   * running. To do: nothing, the queue tries again. Call `markDone()` again later.
   */
  | 'delivery_unfinished'
  /**
   * What came out of a queue is not proven to be genuine. It is kept, and not run. To do: name a replaced
   * secret in `retiredSecrets`, and redrive it. If no secret was replaced, find out who else writes into the
   * queue.
   */
  | 'delivery_unproven'
  /**
   * The handlers took longer than `timeout`. The delivery comes again. To do: hand what takes long to a
   * `queue`, or raise `timeout`.
   */
  | 'handler_timeout'
  /**
   * A job in the queue is none of this package. To do: give the queue to nobody else, and the worker the
   * `large` of its queue.
   */
  | 'job_invalid'
  /**
   * The lease has lapsed, or another process has taken the delivery over: write nothing more. To do: look
   * what has held the process up for so long. Effects that must happen once go through a ledger or `once`.
   */
  | 'lease_lost'
  /**
   * The store did not take how a delivery ended: it may be done once more. To do: look at the store, and
   * whether what the handlers do may be done twice.
   */
  | 'outcome_unrecorded'
  /**
   * The queue gave no id, or is not there any more, so nothing may be stored. To do: create the queue again,
   * with the settings that the message names.
   */
  | 'queue_invalid'
  /** A replayed delivery got no whole response. To do: look whether the server runs, and what it says. */
  | 'response_invalid'
  /**
   * The tables of the store are missing, and could not be made. To do: run the SQL that `postgresSchema()`
   * gives, as a role that may make tables.
   */
  | 'schema_missing'
  /** What is stored is of a newer version of this package. To do: deploy that version here, too. */
  | 'schema_newer'
  /**
   * The memory store holds only what is being processed. To do: raise its bounds, or take a durable store.
   */
  | 'store_full'
  /**
   * The store gave what does not fit its contract. To do: of a store of your own: have `testStore` of
   * `storefront-webhooks/testing` say where. Else look who has changed what it keeps.
   */
  | 'store_invalid'
  /**
   * The store failed. The sender is told 503 and comes again; `markDone()` has to be called again. To do:
   * look at the server of the store, the network and its credentials: the cause is in the message.
   */
  | 'store_unavailable'
  /**
   * A store, a queue, a schema, a secret function or a target took too long. To do: look at what the message
   * names: whether it runs, and what it waits for.
   */
  | 'timed_out';

/**
 * Something went wrong while a verified delivery was processed, which is told to `hooks.onError`; or, in
 * `storefront-webhooks/testing`, a delivery that was replayed got no whole response.
 *
 * @example
 * const hooks: Hooks = {
 *   onError: (error) => {
 *     if (error instanceof WebhookError) log(error.code);
 *   },
 * };
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(explained(message, `errors.md#${code}`), options);
    this.code = code;
  }
}
