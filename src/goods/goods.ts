import { UsageError } from '../errors/errors.js';
import { Load } from '../process/own-process.js';
import { type CloseOptions, Shutdown } from '../process/shutdown.js';
import { Reporter } from '../report/hooks.js';
import {
  type Dispatched,
  type Rejection,
  toResponse,
  type WebhookResponse,
} from '../request/outcome.js';
import { toTitle, type WebhookRequest } from '../request/request.js';
import { SIGN, type Signing } from '../request/secrets.js';
import { nameType } from '../runtime/bytes.js';
import { HeldBodies } from './held-bodies.js';
import type { GoodsOptions, MakeGoods } from './options.js';
import { type Given, Producer } from './produce.js';
import { type GoodsSettings, readGoodsOptions } from './read-options.js';
import { readCallHeaders, type VerifiedCall, verifyCall } from './request.js';

/**
 * Answers the calls of a dynamic product: the response body is what the customer gets. `make` makes the goods of
 * each order once, and every repeated call gets the same bytes. Mount the result like a receiver, with an adapter
 * such as `toExpress(goods)`, and set its address as the `dynamic_url` of the product (specification: Product).
 *
 * @param make - Makes the goods from the order and the call. After a crash, `make` may run again for goods that
 *   were never sent: look up what it has already reserved, by `call.key`. Orders of two shops may have the same id.
 * @throws {UsageError} `secret_invalid`, `option_invalid` or `handler_invalid`, with what to change.
 *
 * @example
 * const goods = createGoods({ secret: process.env.WEBHOOK_SECRET, store }, (order) => makeKey(order.id));
 * app.post('/goods', toExpress(goods));
 */
export function createGoods(options: GoodsOptions, make: MakeGoods): Goods {
  if (typeof make !== 'function') {
    throw new UsageError(
      'handler_invalid',
      'createGoods() needs a function that makes the goods of an order as its second argument, but got ' +
        `${nameType(make)}.`,
    );
  }
  return new Goods(readGoodsOptions(options), make);
}

/** Answers the calls of a dynamic product. Created by {@link createGoods}. */
export class Goods {
  readonly #settings: GoodsSettings;
  readonly #reporter: Reporter;
  readonly #load: Load;
  readonly #held = new HeldBodies((error) => this.#reporter.error(error, {}));
  readonly #making: Producer;
  readonly #closing: Shutdown;
  #isAnnounced = false;

  /** @internal */
  constructor(settings: GoodsSettings, make: MakeGoods) {
    this.#settings = settings;
    this.#reporter = new Reporter(settings);
    this.#load = new Load(this.#reporter);
    this.#making = new Producer(settings, make, this.#reporter, this.#load);
    this.#closing = new Shutdown(this.#making, this.#reporter);
  }

  /** Answers a call. Adapters call this method. Never throws. */
  async receive(request: WebhookRequest): Promise<WebhookResponse<string | Uint8Array>> {
    const startedAt = performance.now();
    try {
      this.#announce();
      if (request.responseSent) this.#closing.waitFor(request.responseSent);
      const call = await this.#verify(request);
      if (call.outcome === 'rejected') {
        return this.#closing.finish(toResponse(this.#reporter.refused(call, startedAt)));
      }
      if (call.outcome) return this.#closing.finish(toResponse(call));
      const came = { startedAt, isGone: request.isGone };
      const given: Given = await this.#load.hold(call.rawBody, came, () =>
        this.#reporter.watch(call, { action: 'process', startedAt }, () => this.#making.give(call)),
      );
      return this.#closing.finish(toGoodsResponse(given));
    } catch (error) {
      this.#reporter.unverifiable(error, startedAt);
      return this.#closing.finish(toResponse({ outcome: 'failed', ran: [] }));
    }
  }

  /**
   * Shuts down: stops the server, answers pending calls, and waits for goods that are being made or recorded.
   * Later calls are answered 503. Never rejects.
   *
   * @example
   * const goods = createGoods({ secret, store }, makeGoods);
   * for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, async () => {
   *   await goods.close({ server });
   *   process.exit();
   * });
   */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#closing.close(options);
  }

  /** For `storefront-webhooks/testing`, which signs calls as the provider does. */
  get [SIGN](): Signing {
    return this.#settings;
  }

  /** Runs steps 1 to 3, unless too many calls are already open. */
  async #verify(request: WebhookRequest): Promise<VerifiedCall | Rejection | Dispatched> {
    const headers = readCallHeaders(request, this.#settings);
    if (headers.outcome === 'rejected') return headers;
    const limits = { bodies: this.#load.bodies, held: this.#held };
    return this.#load.refuse() ?? verifyCall(request, headers, this.#settings, limits);
  }

  #announce(): void {
    if (this.#isAnnounced) return;
    this.#isAnnounced = true;
    const { headerNames, store } = this.#settings;
    const headerPrefix = toTitle(headerNames.prefix);
    this.#reporter.announce({ headerPrefix, store: store.description });
  }
}

function toGoodsResponse(given: Given): WebhookResponse<string | Uint8Array> {
  const { goods, outcome, ran } = given;
  if (!goods) return toResponse(given);
  const headers = { 'content-type': goods.contentType, 'cache-control': 'no-store' };
  return { status: 200, headers, body: goods.bytes, outcome, ran };
}
