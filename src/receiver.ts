import type { ReceiverOptions } from './options.js';
import type { Outcome, Rejection, Result } from './outcome.js';
import { toResponse, type WebhookResponse } from './outcome.js';
import { type CloseOptions, Closing } from './process/closing.js';
import type {
  EffectOptions,
  EventOf,
  Family,
  Handler,
  HandlerOptions,
  NamesOf,
  OptionsOf,
  PayloadMap,
  WebhookEvent,
} from './process/handler.js';
import { INSIDE, type Inside } from './process/inside.js';
import {
  type MarkOptions,
  Processing,
  type ProcessOptions,
  refusalOf,
  refuseOtherScope,
} from './process/processing.js';
import type { AnyHandler, RouteOptions } from './process/router.js';
import { checkDelivery, checkKept, type Opened, Unsealing } from './process/unsealing.js';
import { Reporter } from './report/hooks.js';
import type { Started } from './report/telemetry.js';
import { type Delivery, type KeptDelivery, toSealed } from './request/delivery.js';
import { writeReceipt } from './request/receipt.js';
import type { WebhookRequest } from './request/request.js';
import { SIGN, type Signing, toSigning } from './request/secret-source.js';
import { verifyRequest } from './request/verify.js';
import type { EventSchemas, Payloads } from './schemas/events.js';
import { readOptions, type Settings } from './settings.js';

/**
 * Makes a receiver. Register its handlers with `.on()`, then mount it with an adapter such as
 * `toExpress(receiver)`.
 *
 * @throws {UsageError} `secret_invalid` or `option_invalid`, with what to change.
 *
 * @example
 * const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
 *   .on('order:paid', ({ payload: order }) => deliver(order), { name: 'deliver', oncePer: ({ id }) => id });
 */
export function createReceiver<const Schemas extends EventSchemas = Record<never, never>>(
  options: ReceiverOptions<Schemas>,
): Receiver<Payloads<Schemas>> {
  return new Receiver(readOptions(options));
}

/** What takes a request from its bytes to its answer. Made by {@link createReceiver}. */
export class Receiver<P extends PayloadMap = Payloads<Record<never, never>>> {
  readonly #settings: Settings;
  readonly #reporter: Reporter;
  readonly #processing: Processing;
  readonly #unsealing: Unsealing;
  readonly #closing: Closing;

  /** @internal */
  constructor(settings: Settings) {
    this.#settings = settings;
    this.#reporter = new Reporter(settings);
    this.#processing = new Processing(settings, this.#reporter);
    this.#unsealing = new Unsealing(settings, this.#processing);
    this.#closing = new Closing(this.#processing, this.#reporter);
  }

  /**
   * Registers a handler for an event, a family such as `'order:*'`, every known event (`'*'`), or
   * several of them. The handlers of a delivery run side by side; if one throws, the sender sends the
   * delivery again, and then only the unfinished ones run.
   *
   * @throws {UsageError} `event_unknown`, `handler_invalid`, `handler_duplicate` or `registered_late`.
   *
   * @example
   * receiver.on('order:*', ({ event, payload }) => log(event, payload.id));
   */
  // Spelt out, and once, so that the compiler answers a misspelt name by the names that there are.
  on<const Pattern extends (keyof P & string) | Family<keyof P & string> | '*'>(
    patterns: Pattern | readonly Pattern[],
    handler: Handler<EventOf<P, NamesOf<P, Pattern>>>,
    options?: OptionsOf<P, Pattern>,
  ): this;
  on(
    patterns: string | readonly string[],
    handler: Handler<never>,
    options: EffectOptions<never> | HandlerOptions<never> = {},
  ): this {
    this.#processing.router.checkOptions(options);
    // The overloads tie a handler's payload to its patterns, and the router gives it no other.
    this.#processing.router.on([patterns].flat(), handler as AnyHandler, options as RouteOptions);
    return this;
  }

  /** Registers the handler for events that nobody has named. Without it they are answered 200 `ignored`. */
  onUnknown(handler: Handler<WebhookEvent<string, unknown>>): this {
    this.#processing.router.onUnknown(handler);
    return this;
  }

  /**
   * Registers the handler for verified deliveries that fail their schema or contradict their event;
   * `issues` says how. Once it has stored the delivery somewhere, the answer is 200 `parked`. Without
   * it, it is 422; where there is a queue, its worker parks the delivery in the store.
   */
  onInvalid(handler: Handler<WebhookEvent<string, unknown>>): this {
    this.#processing.router.onInvalid(handler);
    return this;
  }

  /**
   * Marks what a handler with `oncePer` does for a key as done, in the store, and does not run it: for orders
   * that were delivered before this receiver was there.
   *
   * Rejects with a `UsageError`, `handler_unknown`, where no handler of that name has an `oncePer`; with a
   * `WebhookError` where it is not marked: `store_unavailable`, or `delivery_unfinished` while the handler
   * is running for that key.
   *
   * @param key - What `oncePer` gives for it.
   * @returns Whether it was not done before.
   *
   * @example
   * for (const { id } of deliveredOrders) await receiver.markDone('deliver', id);
   */
  markDone(handler: string, key: string, options: MarkOptions = {}): Promise<boolean> {
    return this.#processing.markDone(handler, key, options);
  }

  /** Takes a request from its bytes to its response: what an adapter calls. Never throws. */
  async receive(request: WebhookRequest): Promise<WebhookResponse> {
    const startedAt = performance.now();
    let result: Result;
    let receipt: Receipting | undefined;
    try {
      this.#processing.announce();
      if (request.responseSent) this.#closing.waitFor(request.responseSent);
      // 1 its headers and bytes, 2 their signature, 3 the delivery in them.
      const verified = await verifyRequest(request, this.#settings);
      // 4 a claim on it, 5 its handlers, or a queue, 6 what became of the claim.
      if (verified.outcome === 'rejected') result = this.#reporter.refused(verified, startedAt);
      else {
        const { delivery, secret } = verified;
        receipt = (outcome) => writeReceipt(delivery, outcome, secret);
        result = await this.#accept(delivery, startedAt);
      }
    } catch (error) {
      this.#reporter.unverifiable(error, startedAt);
      result = { outcome: 'failed', ran: [] };
    }
    // 7 the response.
    return this.#closing.finish(toResponse(result, receipt?.(result.outcome)));
  }

  /**
   * Steps 1 to 3: checks the headers, reads the body, verifies it, and reads the delivery.
   *
   * @param options.keepInvalid - Gives also a genuine delivery that does not fit its event, with the
   *   `kind` `'invalid'`: only for who hands everything to a queue. Default: it is a `Rejection`.
   * @returns The delivery, or a `Rejection` for what the sender did wrong.
   * @throws {UsageError} `body_consumed` where the body was parsed before, `secret_invalid` where the
   *   `secret` function gives one that cannot be used.
   * @throws {WebhookError} `timed_out` where the `secret` function or a schema takes too long.
   */
  async verify(
    request: WebhookRequest,
    { keepInvalid = false }: { readonly keepInvalid?: boolean } = {},
  ): Promise<Delivery | Rejection> {
    const verified = await verifyRequest(request, this.#settings);
    if (verified.outcome === 'rejected') return verified;
    const { delivery } = verified;
    return (keepInvalid ? undefined : refusalOf(delivery)) ?? delivery;
  }

  /**
   * Steps 4 to 6: claims a verified delivery, runs its handlers, and settles the claim; never hands it
   * to the `queue`. For the worker of a queue, which has to have `failed`, `busy` and `unavailable` tried
   * again. What was sealed is proven again by its signature, and kept for a person where it cannot be. What
   * {@link verify} gave is trusted.
   *
   * Throws `delivery_invalid` where it is no delivery, `scope_invalid` where it is another receiver's, and what
   * a schema or a `secret` function of yours throws.
   *
   * @param options.lastAttempt - The queue does not try it again. What fails is dead then, and `parked`,
   *   in a store that is durable; in another one it is lost, unless the queue keeps it.
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
      return this.#process(verified, { lastAttempt, startedAt });
    }
    const opened = await this.#unsealing.open(toSealed(verified), lastAttempt);
    const { traceparent } = verified;
    return this.#processOpened(opened, { lastAttempt, startedAt, traceparent });
  }

  /**
   * Processes what `store.list` gives, dead, stalled or failing, as if it had just come for the first time, but
   * for what its handlers have done: here, or by the worker of the `queue`. One that is done is a
   * duplicate. Throws what the store throws, and `scope_invalid` where it is another receiver's.
   *
   * @param options.vouched - You say that it is genuine: processes also what came out of a queue and could
   *   not be proven, as where its secret is no more.
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
    const { store, queue } = this.#settings;
    await store.redrive(delivery.key);
    if (this.#unsealing.isUnproven(delivery)) {
      return this.#unsealing.redriveUnproven(delivery, vouched, (proven) =>
        queue ? this.#processing.redrive(queue, proven) : this.dispatch(proven),
      );
    }
    if (queue?.redrive) {
      return this.#unsealing.handBack(delivery, (signed) =>
        this.#processing.redrive(queue, signed),
      );
    }
    const startedAt = performance.now();
    const opened = await this.#unsealing.openStored(delivery);
    const result = await this.#processOpened(opened, { lastAttempt: false, startedAt });
    // What does not fit its event is dead again at once.
    if (result.outcome !== 'rejected' || opened.outcome === 'rejected') return result;
    return this.#processOpened(opened, { lastAttempt: true, startedAt });
  }

  /**
   * Ends well: stops the server, answers what has come, and waits for what is running and for what has
   * still to be recorded. Then takes no more deliveries: they are answered 503 and sent again. One that takes
   * longer is taken over when its lease lapses. Never rejects.
   *
   * @example
   * process.once('SIGTERM', async () => {
   *   await receiver.close({ server });
   *   process.exit();
   * });
   */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#closing.close(options);
  }

  /** Signs as the provider would, for `storefront-webhooks/testing`. */
  get [SIGN](): Signing {
    const { headerNames, secretSource } = this.#settings;
    return toSigning(secretSource, headerNames);
  }

  /** For `storefront-webhooks/recovery`. */
  get [INSIDE](): Inside {
    return {
      settings: this.#settings,
      processing: this.#processing,
      process: (delivery) => this.#process(delivery, { startedAt: performance.now() }),
    };
  }

  /** Hands a verified delivery to the queue, where there is one; else processes it. */
  #accept(delivery: Delivery, startedAt: number): Promise<Result> {
    const { queue } = this.#settings;
    if (!queue) return this.#process(delivery, { startedAt });
    return this.#reporter.watch(delivery, { action: 'send', startedAt }, () =>
      this.#processing.enqueue(queue, delivery),
    );
  }

  async #processOpened(opened: Opened, how: ProcessHow): Promise<Result> {
    if (opened.outcome === 'rejected') return this.#reporter.refused(opened, how.startedAt);
    return opened.outcome === undefined ? this.#process(opened, how) : opened;
  }

  #process(delivery: Delivery, how: ProcessHow): Promise<Result> {
    return this.#reporter.watch(delivery, { action: 'process', ...how }, () =>
      this.#processing.process(delivery, how),
    );
  }
}

/** Writes the receipt of a delivery's answer. */
type Receipting = (outcome: Outcome) => string;

type ProcessHow = ProcessOptions & Omit<Started, 'action'>;
