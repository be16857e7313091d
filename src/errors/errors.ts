import { withDocsLink } from './docs-link.js';

/** The codes of {@link UsageError}. They are stable, to be matched on. */
export type UsageErrorCode =
  /**
   * Another part of the program has read or parsed the body before the receiver could. To do: mount the receiver
   * before the body parser. The message names the line to change.
   */
  | 'body_consumed'
  /**
   * The body is neither bytes nor text, for example because it was parsed. To do: pass the raw body, such as a
   * `Buffer` or `Uint8Array`, as received.
   */
  | 'body_not_bytes'
  /**
   * A store, a queue or a ledger was given a client, a pool or a binding that it cannot use, or a client that is
   * not connected or changes what the database returns. To do: pass the object that the message names, from the
   * driver itself and not from a library built on it, or leave out the option that it names.
   */
  | 'client_invalid'
  /**
   * `redrive()` was given something other than a stored delivery, such as an id. To do: pass a delivery from
   * `store.list()`, unchanged.
   */
  | 'delivery_invalid'
  /**
   * The Lambda handler was called with an event that is not an HTTP event of API Gateway, a function URL or ALB.
   * To do: trigger it only by one of these, and pass the event on unchanged.
   */
  | 'event_invalid'
  /**
   * `.on()` names an unknown event. The message suggests the nearest one. To do: correct the name, or give the
   * event a schema in the option `events`.
   */
  | 'event_unknown'
  /**
   * A saved delivery does not exist or cannot be read, or the argument is not one. To do: correct the file at the
   * place that the message names, or save the delivery again; or pass what the message names.
   */
  | 'fixture_invalid'
  /**
   * The function of `createGoods` returned nothing, too much, or a content type that is not valid. To do: return a
   * text, bytes or `{ body, contentType }`, or throw if there are no goods.
   */
  | 'goods_invalid'
  /**
   * Two handlers have the same name, under which the store keeps their progress, or two calls of `.onPaid()` have no
   * name. To do: give the later one another `name`.
   */
  | 'handler_duplicate'
  /**
   * A handler is not a function, its options are not valid, its `when` returned neither true nor false, or a schema of
   * your own removes what `.onPaid()` reads. To do: change the option that the message names.
   */
  | 'handler_invalid'
  /**
   * `markDone()` names a handler that does not exist or has no `oncePer`. The message suggests the nearest one.
   * To do: pass the `name` of a handler with `oncePer`, which is `'onPaid'` for `.onPaid()` without a name.
   */
  | 'handler_unknown'
  /**
   * A key is not an idempotency key, an `oncePer` or `keyBy` did not return a text, or a step of `once` has no name. To
   * do: return or pass a text without `undefined` in it, such as an id in the payload.
   */
  | 'key_invalid'
  /**
   * An option has an unknown name, a wrong type or a value out of range. To do: change the option that the message
   * names: docs/options.md lists them all.
   */
  | 'option_invalid'
  /**
   * The API client was given an unknown parameter, or an id or parameter that cannot be sent. To do: change the
   * parameter that the message names.
   */
  | 'parameter_invalid'
  /**
   * An adapter was given neither a receiver nor a function that creates one. To do: pass the result of
   * `createReceiver()` or `createGoods()`, or a function that returns it.
   */
  | 'receiver_invalid'
  /**
   * A handler was registered after the first delivery, which it would have missed. To do: call `.on()` and
   * `.onPaid()` before the server listens.
   */
  | 'registered_late'
  /**
   * `receive()` or `verify()` was given a request without a method or without headers. To do: pass
   * `{ method, url, headers, body }`, or use the adapter of your framework.
   */
  | 'request_invalid'
  /**
   * The delivery has another scope. Each receiver needs a queue of its own, and lists only its own scope. To do:
   * give each receiver its own queue, and redrive with the receiver of that scope.
   */
  | 'scope_invalid'
  /**
   * The secret is empty or missing, or it is the text "undefined", so the variable it comes from was not set. To
   * do: set the variable that `secret` is read from to the signing secret of your account.
   */
  | 'secret_invalid'
  /**
   * `replay()` was given a target to which it cannot send. To do: pass a receiver, an absolute URL, a Node server,
   * an application or a fetch handler.
   */
  | 'target_invalid'
  /**
   * A ledger was not given the transaction of the effect, or its transaction has ended; or a handler with
   * `transaction` has ended its transaction, used it afterwards, or caught the error of a statement in it. To do:
   * pass the transaction in which the effect happens, before it ends; leave out `COMMIT`, `ROLLBACK` and
   * `release()`, await each statement, and let its error throw.
   */
  | 'transaction_missing'
  /**
   * `unwrap` returned no payload, or an event or an id that is not a text. To do: return `{ payload }`, with texts
   * as `event` and `id`, if it returns them.
   */
  | 'unwrap_invalid'
  /**
   * A framework, a client or a queue is of a version that this package cannot use. To do: install the version that
   * the message names.
   */
  | 'version_unsupported'
  /**
   * The work of `ledger.transaction` in SQLite has to be synchronous, and must not begin a transaction. To do: remove
   * the `async`, and do asynchronous work before or after it; leave out `BEGIN`.
   */
  | 'work_invalid';

/**
 * A mistake in the program that uses this package, never in what a sender sent. The message says what to change,
 * and ends with the page of docs/ that explains it. A `TypeError` with a stable `code`.
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
    super(withDocsLink(message, `errors.md#${code}`), options);
    this.code = code;
  }
}

/** The codes of {@link WebhookError}. They are stable, to be matched on. */
export type WebhookErrorCode =
  /**
   * `close()` has ended before all work had. To do: nothing, the provider or the queue retries it. If it happens
   * often, raise `timeoutMs`, if the platform gives a process that much time.
   */
  | 'closed_early'
  /**
   * The service that `confirm` uses did not answer. The provider retries the delivery, unless `whenDown` accepts
   * it. To do: check whether the provider's service is up, and whether the credentials of the client are valid.
   */
  | 'confirmation_unavailable'
  /**
   * A delivery is larger than the queue or its messages can hold. To do: give the queue the option that the
   * message names, or lower `limit`.
   */
  | 'delivery_too_large'
  /**
   * The delivery is not done yet. A worker throws this error so that its queue retries; `markDone()` throws it
   * while the handler is running. To do: nothing, the queue retries. Call `markDone()` again later.
   */
  | 'delivery_unfinished'
  /**
   * A delivery from the queue could not be verified. It was parked and not run. To do: if a secret was replaced, add
   * the old one to `retiredSecrets`, or give this worker the new one, and redrive the delivery. If no secret was
   * replaced, find out who else writes to the queue.
   */
  | 'delivery_unproven'
  /**
   * The handlers took longer than `timeout`. The provider or the queue retries the delivery. To do: use a `queue`
   * for slow work, or raise `timeout`.
   */
  | 'handler_timeout'
  /**
   * A job in the queue is not from this package. To do: use the queue for nothing else, and give the worker the
   * `large` option of its queue.
   */
  | 'job_invalid'
  /**
   * The lease has expired, another process has taken the delivery over, or a step of `once` began after its handler had
   * failed: write nothing more. To do: find out what has delayed the process for so long, and await all steps. For
   * effects that must happen once, use a ledger or `once`.
   */
  | 'lease_lost'
  /**
   * The store could not record how a delivery ended, so its handlers may run once more. To do: check the store,
   * and whether the work of the handlers may be repeated. If D1 reports too many API requests, the invocation of the
   * Worker had used up its queries: lower the `max_batch_size` of the queue's consumer, to 5 if a delivery has one handler,
   * or to 3 if it has two.
   */
  | 'outcome_unrecorded'
  /**
   * More webhooks arrive than the process can handle, and some are answered 503; or the overload is over. To do:
   * nothing, if it is rare: the provider retries them. Otherwise make the handlers faster, give the store more
   * connections, or start more processes.
   */
  | 'overloaded'
  /**
   * The queue returned no id, could not start, does not exist any more, or has its keys on several servers of a
   * cluster, so the delivery may not be stored. To do: restart the process, create the queue again, or give it a
   * prefix, as the message says.
   */
  | 'queue_invalid'
  /**
   * A replayed delivery got no complete response. To do: check whether the server is running, and read its log.
   */
  | 'response_invalid'
  /**
   * The tables of the store are missing, and could not be created. To do: run the SQL that `postgresSchema()`
   * returns, as a role that may create tables.
   */
  | 'schema_missing'
  /** The store was written by a newer version of this package. To do: deploy that version here, too. */
  | 'schema_newer'
  /**
   * The memory store is full of deliveries in progress. To do: raise its limits, or use a durable store.
   */
  | 'store_full'
  /**
   * The store returned a value that does not fit its contract. To do: test a store of your own with `testStore` of
   * `storefront-webhooks/testing`, which says where. For any other store, find out who has changed its data.
   */
  | 'store_invalid'
  /**
   * The store failed. The answer is 503, and the provider retries; call `markDone()` again. To do: check the
   * server of the store, the network and the credentials: the message names the cause.
   */
  | 'store_unavailable'
  /**
   * A store, a queue, a schema, a secret function or a target took too long. To do: check whether the thing that
   * the message names is running, and what it waits for.
   */
  | 'timed_out';

/**
 * An error in the processing of a verified delivery. The receiver passes it to `hooks.onError`. In
 * `storefront-webhooks/testing`, also an error in replaying a delivery.
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
    super(withDocsLink(message, `errors.md#${code}`), options);
    this.code = code;
  }
}
