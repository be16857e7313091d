import type {
  EventOf,
  Family,
  Handler,
  HandlerOptions,
  NamesOf,
  OptionsOf,
  PayloadMap,
  TransactionEvent,
  WebhookEvent,
} from './process/handler.js';
import { INTERNALS, type Internals } from './process/internals.js';
import { Load } from './process/own-process.js';
import { addPaid, type PaidHandler, type PaidOptions } from './process/paid-orders.js';
import {
  type MarkOptions,
  Processing,
  type ProcessOptions,
  refusalOf,
  refuseOtherScope,
} from './process/process-delivery.js';
import type { Settings } from './process/read-options.js';
import { checkDelivery, checkKept, copyOf, type Opened, Reopener } from './process/reopen.js';
import type { AnyHandler, RouteOptions } from './process/router.js';
import { type CloseOptions, Shutdown } from './process/shutdown.js';
import { Reporter } from './report/hooks.js';
import type { Started } from './report/telemetry.js';
import { type Delivery, type KeptDelivery, toSealed } from './request/delivery.js';
import {
  type Dispatched,
  type Rejection,
  type Result,
  toResponse,
  type WebhookResponse,
} from './request/outcome.js';
import { writeReceipt } from './request/receipt.js';
import { readHeaders, type WebhookRequest } from './request/request.js';
import { SIGN, type Signing } from './request/secrets.js';
import { type Verified, verifyRequest } from './request/verify.js';
import type { Payloads } from './schemas/events.js';

/** Takes each request from its bytes to its answer. {@link createReceiver} makes one. */
export class Receiver<P extends PayloadMap = Payloads<Record<never, never>>, Tx = unknown> {
  readonly #settings: Settings;
  readonly #reporter: Reporter;
  readonly #load: Load;
  readonly #processing: Processing;
  readonly #reopener: Reopener;
  readonly #shutdown: Shutdown;

  /** @internal */
  constructor(settings: Settings) {
    this.#settings = settings;
    this.#reporter = new Reporter(settings);
    this.#load = new Load(this.#reporter);
    this.#processing = new Processing(settings, this.#reporter, this.#load);
    this.#reopener = new Reopener(settings, this.#processing);
    this.#shutdown = new Shutdown(this.#processing, this.#reporter);
  }

  /**
   * Registers a handler for an event, a family such as `'order:*'`, every known event (`'*'`), or several of them.
   * The handlers of a delivery run in parallel. If one throws, the provider retries the delivery, and then only
   * the unfinished ones run.
   *
   * @throws {UsageError} `event_unknown`, `handler_invalid`, `handler_duplicate` or `registered_late`.
   *
   * @example
   * receiver.on('order:*', ({ event, payload }) => log(event, payload.id));
   */
  // A single explicit signature, so that the compiler suggests the nearest event for a misspelled one.
  on<
    const Pattern extends (keyof P & string) | Family<keyof P & string> | '*',
    const InTransaction extends boolean = false,
  >(
    patterns: Pattern | readonly Pattern[],
    handler: Handler<TransactionEvent<EventOf<P, NamesOf<P, Pattern>>, Tx, InTransaction>>,
    options?: OptionsOf<P, Pattern> & { transaction?: InTransaction },
  ): this;
  on(
    patterns: string | readonly string[],
    handler: Handler<never>,
    options: HandlerOptions<never> = {},
  ): this {
    // The signature above ties the payload of a handler to its patterns, and the router passes no other payload.
    this.#processing.router.on([patterns].flat(), handler as AnyHandler, options as RouteOptions);
    return this;
  }

  /**
   * Registers a handler that runs once for each paid order, whichever of `order:created`, `order:paid` and
   * `order:updated` reports the payment. The order's status decides, by `paidStatuses`. The store remembers the orders
   * forever, under the name `'onPaid'` or another `name`.
   *
   * @throws {UsageError} `handler_invalid`, `handler_duplicate` or `registered_late`.
   *
   * @example
   * receiver.onPaid(async ({ payload: order }) => deliver(order));
   */
  onPaid<const InTransaction extends boolean = false>(
    handler: PaidHandler<P, Tx, InTransaction>,
    options: PaidOptions & { transaction?: InTransaction } = {},
  ): this {
    addPaid(this.#processing.router, handler, options);
    return this;
  }

  /** Registers the handler for events without a schema. Without it, they are answered 200 `ignored`. */
  onUnknown(handler: Handler<WebhookEvent<string, unknown>>): this {
    this.#processing.router.onUnknown(handler);
    return this;
  }

  /**
   * Registers the handler for genuine deliveries that do not fit their event; `issues` says how. It has to keep the
   * delivery: it and its copies are answered 200 `parked`. Without a handler, the answer is 422; a queue's worker parks it.
   */
  onInvalid(handler: Handler<WebhookEvent<string, unknown>>): this {
    this.#processing.router.onInvalid(handler);
    return this;
  }

  /**
   * Marks the effect of a handler as done for a key, in the store, without running the handler: for orders that were
   * delivered before this receiver was in use. Rejects with `handler_unknown` if no handler of that name has an
   * `oncePer`, with `delivery_unfinished` while it is running for that key, and with `store_unavailable`.
   *
   * @param handler - The name of the handler. That of {@link onPaid} is `'onPaid'`, unless its options name it.
   * @param key - The order's id for {@link onPaid}; otherwise the key that `oncePer` returns.
   * @returns Whether the effect was not done before.
   * @example
   * for (const { id } of deliveredOrders) await receiver.markDone('onPaid', id);
   */
  markDone(handler: string, key: string, options: MarkOptions = {}): Promise<boolean> {
    return this.#processing.markDone(handler, key, options);
  }

  /** Takes a request from its bytes to its response. Adapters call it. Never throws. */
  async receive(request: WebhookRequest): Promise<WebhookResponse> {
    const startedAt = performance.now();
    await this.#load.waitForTurn();
    let respond = toResponse;
    let response: WebhookResponse;
    try {
      this.#processing.announce();
      if (request.responseSent) this.#shutdown.waitFor(request.responseSent);
      let result: Result;
      // Steps: 1 check its headers and read its bytes, 2 verify the signature, 3 read the delivery.
      const verified = await this.#verify(request);
      // 4 claim the delivery, 5 run its handlers or queue it, 6 settle the claim.
      if (verified.outcome === 'rejected') result = this.#reporter.refused(verified, startedAt);
      else if (verified.outcome) result = verified;
      else {
        const { delivery, secret } = verified;
        respond = (ended) => toResponse(ended, writeReceipt(delivery, ended.outcome, secret));
        const how = { startedAt, isGone: request.isGone };
        result = await this.#load.hold(delivery.rawBody, how, () => this.#accept(delivery, how));
      }
      // 7 make the response.
      response = respond(result);
    } catch (error) {
      this.#reporter.unverifiable(error, startedAt);
      response = respond({ outcome: 'failed', ran: [] });
    }
    return this.#shutdown.finish(response);
  }

  /**
   * Runs steps 1 to 3: checks the headers, reads the body, verifies it, and reads the delivery.
   *
   * @param options.keepInvalid - Also returns a genuine delivery that does not fit its event, with the `kind`
   *   `'invalid'`: only for programs that store every delivery in a queue. Default: returns a `Rejection`.
   * @returns The delivery, or a `Rejection` if the sender made a mistake.
   * @throws {UsageError} `body_consumed` if the body was parsed; `secret_invalid` if `secret` returns an unusable one.
   * @throws {WebhookError} `timed_out` if the `secret` function or a schema takes too long.
   */
  async verify(
    request: WebhookRequest,
    { keepInvalid = false }: { readonly keepInvalid?: boolean } = {},
  ): Promise<Delivery | Rejection> {
    const headers = readHeaders(request, this.#settings);
    if (headers.outcome === 'rejected') return headers;
    const verified = await verifyRequest(request, headers, this.#settings);
    if (verified.outcome === 'rejected') return verified;
    return (keepInvalid ? undefined : refusalOf(verified.delivery)) ?? verified.delivery;
  }

  /**
   * Runs steps 4 to 6, for the worker of a queue: claims a verified delivery, runs its handlers, and settles the
   * claim. The worker has to retry `failed`, `busy` and `unavailable`. Trusts a delivery from {@link verify};
   * verifies a sealed one again by its signature, and parks it if that fails or it does not fit its event.
   *
   * Throws `delivery_invalid` if the value is not a delivery, `scope_invalid` if it belongs to another receiver,
   * and what a schema or a `secret` function of yours throws.
   *
   * @param options.lastAttempt - The queue will not retry it. If it fails, it is dead and the outcome is `parked`,
   *   if the store is durable; in any other store it is lost, unless the queue keeps it.
   */
  async dispatch(
    verified: Delivery | KeptDelivery,
    { lastAttempt = false }: { readonly lastAttempt?: boolean } = {},
  ): Promise<Result> {
    const startedAt = performance.now();
    checkDelivery(verified);
    this.#processing.announce();
    if (!('body' in verified)) {
      refuseOtherScope(this.#settings.scope, verified.scope);
      return this.#process(copyOf(verified), { lastAttempt, startedAt });
    }
    const opened = await this.#reopener.open(toSealed(verified), lastAttempt);
    const { traceparent } = verified;
    return this.#processOpened(opened, { lastAttempt, startedAt, traceparent });
  }

  /**
   * Processes a delivery from `store.list`, which is dead, stalled or failing, as if it had arrived for the first
   * time. Handlers that have finished do not run again. The receiver processes it, or the worker of the `queue`.
   * If it is done, the outcome is `duplicate`. Throws `scope_invalid`, and what the store throws.
   *
   * @param options.vouched - You vouch that the delivery is genuine. Also processes a delivery from a queue that
   *   could not be verified, for example because its secret does not exist any more.
   *
   * @example
   * for (const dead of await store.list({ state: 'dead', limit: 100 })) await receiver.redrive(dead);
   */
  async redrive(
    stored: KeptDelivery,
    { vouched = false }: { readonly vouched?: boolean } = {},
  ): Promise<Result> {
    checkKept(stored);
    const delivery = toSealed(stored);
    refuseOtherScope(this.#settings.scope, delivery.scope);
    await this.#settings.store.redrive(delivery.key);
    const startedAt = performance.now();
    return this.#reopener.redrive(delivery, vouched, {
      dispatch: (one) => this.dispatch(one),
      process: (opened) => this.#processOpened(opened, { startedAt, storedKey: delivery.key }),
    });
  }

  /**
   * Closes the receiver: stops the server, answers pending requests, and waits for running handlers and for
   * records that the store has not accepted yet. Further deliveries are answered 503, and the provider retries
   * them. If work takes longer, another process takes it over when its lease expires. Never rejects.
   *
   * @example
   * for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, async () => {
   *   await receiver.close({ server });
   *   process.exit();
   * });
   */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#shutdown.close(options);
  }

  /** Fires when {@link close} is called. The worker of a queue takes no more jobs then. */
  get closing(): AbortSignal {
    return this.#shutdown.signal;
  }

  /** For `storefront-webhooks/testing`, which signs as the provider would. */
  get [SIGN](): Signing {
    return this.#settings;
  }

  /** The internals of the receiver. For `storefront-webhooks/recovery`. */
  get [INTERNALS](): Internals {
    const process = (one: Delivery) => this.#process(copyOf(one), { startedAt: performance.now() });
    return { settings: this.#settings, processing: this.#processing, process };
  }

  /** Runs steps 1 to 3, if there is room for another request. */
  #verify(request: WebhookRequest): Promise<Verified | Rejection> | Rejection | Dispatched {
    const headers = readHeaders(request, this.#settings);
    if (headers.outcome === 'rejected') return headers;
    const refusal = this.#load.refuse();
    return refusal ?? verifyRequest(request, headers, this.#settings, this.#load.bodies);
  }

  /** Hands a verified delivery to the queue, if there is one; otherwise processes it. */
  #accept(delivery: Delivery, how: ProcessHow): Promise<Result> {
    const { queue } = this.#settings;
    if (!queue) return this.#process(delivery, how);
    const started = { action: 'send', startedAt: how.startedAt } as const;
    return this.#reporter.watch(delivery, started, () => this.#processing.enqueue(queue, delivery));
  }

  async #processOpened(opened: Opened, how: ProcessHow): Promise<Result> {
    if (opened.outcome === 'rejected') return this.#reporter.refused(opened, how.startedAt);
    return opened.outcome === undefined ? this.#process(opened, how) : opened;
  }

  #process(delivery: Delivery, how: ProcessHow): Promise<Result> {
    const process = () => this.#processing.process(delivery, how);
    return this.#reporter.watch(delivery, { action: 'process', ...how }, process);
  }
}

type ProcessHow = ProcessOptions & Omit<Started, 'action'>;
