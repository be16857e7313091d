import { Answers } from './answers.js';
import { type Delivery, openSealed, readDelivery, type SealedDelivery, seal } from './delivery.js';
import { refuseOtherScope, toDispatched, withoutHandler } from './dispatched.js';
import { type HandOff, handOff } from './hand-off.js';
import type {
  EffectOptions,
  EventOf,
  Handler,
  HandlerOptions,
  NamesOf,
  Pattern,
  PayloadMap,
  WebhookEvent,
} from './handler.js';
import { nameOf, Reporter } from './hooks.js';
import { Idempotency } from './idempotency.js';
import { warnOfMemory } from './log.js';
import { type ReceiverOptions, readOptions, type Settings } from './options.js';
import { type Dispatched, Rejection } from './outcome.js';
import { type Reply, replyTo } from './reply.js';
import { readBody, readHeaders, type WebhookRequest } from './request.js';
import { type AnyHandler, type AnyKey, type Route, Router } from './router.js';
import { runHandlers } from './run-handlers.js';
import type { EventSchemas, Payloads } from './schemas/events.js';
import { SIGN } from './sign-symbol.js';
import { sign, verifySignature } from './signature.js';

// A short lease, because a sender retries a few times only: a crash must not spend them on 503s.
const TIMING = { leaseMs: 10_000, renewMs: 3_000, waitMs: 3_000 };

/**
 * Makes a receiver. Register its handlers with `.on()`, then mount it with an adapter such as
 * `toExpress(receiver)`.
 *
 * @throws {UsageError} `secret_invalid` or `option_invalid`, with what to change.
 *
 * @example
 * const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
 *   .on('order:paid', async ({ payload: order }) => deliver(order), { oncePer: (order) => order.id });
 */
export function createReceiver<const Schemas extends EventSchemas = Record<never, never>>(
  options: ReceiverOptions<Schemas>,
): Receiver<Payloads<Schemas>> {
  return new Receiver(readOptions(options));
}

/** What takes a request from its bytes to its answer. Made by {@link createReceiver}. */
export class Receiver<P extends PayloadMap = Payloads<Record<never, never>>> {
  readonly #settings: Settings;
  readonly #router: Router;
  readonly #idempotency: Idempotency;
  readonly #reporter: Reporter;
  readonly #answers = new Answers();

  /** @internal */
  constructor(settings: Settings) {
    this.#settings = settings;
    this.#router = new Router(settings.schemas.keys());
    this.#reporter = new Reporter(settings.hooks);
    this.#idempotency = new Idempotency(
      settings.store,
      { ...TIMING, timeoutMs: settings.timeoutMs },
      (error, subject) => this.#reporter.error(error, subject ? nameOf(subject) : {}),
    );
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
  on<Event extends keyof P & string>(
    event: Event,
    handler: Handler<EventOf<P, Event>>,
    options?: EffectOptions<P[Event]>,
  ): this;
  on<const OnePattern extends Pattern<P>>(
    patterns: OnePattern | readonly OnePattern[],
    handler: Handler<EventOf<P, NamesOf<P, OnePattern>>>,
    options?: HandlerOptions,
  ): this;
  on(
    patterns: string | readonly string[],
    handler: Handler<never>,
    options: EffectOptions<never> = {},
  ): this {
    // The overloads tie a handler's payload to its patterns, and the router gives it no other.
    const { name, oncePer } = options as HandlerOptions & { oncePer?: AnyKey };
    this.#router.on([patterns].flat(), handler as AnyHandler, { name, oncePer });
    return this;
  }

  /** Registers the handler for events that nobody has named. Without it they are answered 200 `ignored`. */
  onUnknown(handler: Handler<WebhookEvent<string, unknown>>): this {
    this.#router.onUnknown(handler);
    return this;
  }

  /**
   * Registers the handler for verified deliveries that fail their schema or contradict their event;
   * `issues` says how. Once it has stored the delivery somewhere, the answer is 200 `parked`. Without
   * it, it is 422.
   */
  onInvalid(handler: Handler<WebhookEvent<string, unknown>>): this {
    this.#router.onInvalid(handler);
    return this;
  }

  /** Takes a request from its bytes to its answer: what an adapter calls. Never throws. */
  async receive(request: WebhookRequest): Promise<Reply> {
    const startedAt = performance.now();
    if (request.answered) this.#answers.add(request.answered);
    try {
      const delivery = await this.verify(request);
      if (delivery instanceof Rejection) return replyTo(this.#refuse(delivery));
      const { queue } = this.#settings;
      const result = await (queue
        ? this.#handOff(queue, delivery)
        : this.#process(delivery, request.durableStores));
      return replyTo(this.#report(result, delivery, startedAt));
    } catch (error) {
      this.#reporter.error(error, {});
      return replyTo({ outcome: 'failed', ran: [] });
    }
  }

  /**
   * Steps 1 to 3: checks the headers, reads the body, verifies it, and reads the delivery.
   *
   * @returns The delivery, or a `Rejection` for what the sender did wrong.
   * @throws {UsageError} `body_consumed` where the body was parsed before, `secret_invalid` where the
   *   `secret` function gives one that cannot be used.
   * @throws {WebhookError} `timed_out` where the `secret` function or a schema takes too long.
   */
  async verify(request: WebhookRequest): Promise<Delivery | Rejection> {
    const headers = readHeaders(request, this.#settings);
    if (headers instanceof Rejection) return headers;

    const rawBody = await readBody(request.body, this.#settings);
    if (rawBody instanceof Rejection) return rawBody;

    const { event, id, signature } = headers;
    const shop = await this.#settings.secretSource(request);
    if (!shop || !verifySignature(rawBody, signature, shop.secrets)) {
      return new Rejection('signature_invalid', { id, event });
    }
    const { scope } = shop;
    const envelope = { event, id, scope, receivedAt: new Date(), source: 'webhook' } as const;
    return readDelivery(rawBody, envelope, this.#settings);
  }

  /**
   * Steps 4 to 6: claims a verified delivery, runs its handlers, and settles the claim; never hands it
   * to the `queue`. For the worker of a queue, which has to have `failed`, `busy` and `unavailable` sent
   * again. It trusts what it is given: never call it with anything unverified.
   */
  async dispatch(verified: Delivery | SealedDelivery): Promise<Dispatched | Rejection> {
    const startedAt = performance.now();
    const delivery = 'body' in verified ? await openSealed(verified, this.#settings) : verified;
    if (delivery instanceof Rejection) return this.#refuse(delivery);
    return this.#report(await this.#process(delivery), delivery, startedAt);
  }

  /**
   * Processes what `store.list` gives, dead or stalled, as if it had just come for the first time, but
   * for what its handlers have done. One that is done is a duplicate. Throws what the store throws, and
   * `scope_invalid` where it is another receiver's.
   *
   * @example
   * for (const dead of await store.list({ state: 'dead', limit: 100 })) await receiver.redrive(dead);
   */
  async redrive(delivery: SealedDelivery): Promise<Dispatched | Rejection> {
    refuseOtherScope(this.#settings.scope, delivery);
    await this.#settings.store.redrive(delivery.key);
    return this.dispatch(delivery);
  }

  /**
   * Takes no more deliveries (they are answered 503 and sent again), and waits for those that are
   * running. One that takes longer than `timeoutMs` is taken over when its lease lapses.
   */
  async close({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<void> {
    await Promise.all([this.#idempotency.close(timeoutMs), this.#answers.left(timeoutMs)]);
  }

  /** Signs as the provider would, for `storefront-webhooks/testing`. */
  async [SIGN](request: WebhookRequest, body: Uint8Array): Promise<string> {
    const [secret] = (await this.#settings.secretSource(request))?.secrets ?? [];
    return secret === undefined ? '' : sign(body, secret);
  }

  #process(
    delivery: Delivery,
    durableStores?: string,
  ): Promise<Dispatched> | Dispatched | Rejection {
    const routes = this.#router.routesFor(delivery);
    if (routes.length === 0) return withoutHandler(delivery) ?? { outcome: 'ignored', ran: [] };
    if (this.#settings.isDefaultStore) warnOfMemory(durableStores);
    return this.#idempotency.join(delivery.key, () => this.#runOnce(routes, delivery));
  }

  #handOff(queue: HandOff, delivery: Delivery): Promise<Dispatched> | Dispatched | Rejection {
    const routes = this.#router.routesFor(delivery);
    const refused = routes.length === 0 && withoutHandler(delivery);
    if (refused) return refused;
    return this.#idempotency.join(`queue:${delivery.key}`, async () => {
      if (this.#idempotency.isClosing) return { outcome: 'unavailable', ran: [] };
      try {
        await handOff(queue, seal(delivery));
        return { outcome: 'queued', ran: [] };
      } catch (error) {
        this.#reporter.error(error, nameOf(delivery));
        return { outcome: 'unavailable', ran: [] };
      }
    });
  }

  async #runOnce(routes: readonly Route[], delivery: Delivery): Promise<Dispatched> {
    const onError = (error: unknown, handler?: string) =>
      this.#reporter.error(error, { ...nameOf(delivery), handler });
    const held = await this.#idempotency.hold(seal(delivery), this.#settings.keepMs, (lease) =>
      runHandlers(routes, { delivery, lease, idempotency: this.#idempotency, onError }),
    );
    if ('error' in held) onError(held.error);
    return toDispatched(held, delivery.kind);
  }

  #refuse(rejection: Rejection): Rejection {
    this.#reporter.rejection(rejection);
    return rejection;
  }

  #report<Result extends Dispatched | Rejection>(
    result: Result,
    delivery: Delivery,
    startedAt: number,
  ): Result {
    if (result instanceof Rejection) this.#reporter.rejection(result);
    else this.#reporter.outcome(result, delivery, startedAt);
    return result;
  }
}
