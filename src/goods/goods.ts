import { UsageError } from '../errors.js';
import { toResponse, type WebhookResponse } from '../outcome.js';
import { type CloseOptions, Closing } from '../process/closing.js';
import { Reporter } from '../report/hooks.js';
import { nameType } from '../request/bytes.js';
import { toTitle, type WebhookRequest } from '../request/request.js';
import { SIGN, type Signing, toSigning } from '../request/secret-source.js';
import { verifyCall } from './call.js';
import { type Given, Making } from './making.js';
import type { GoodsOptions, MakeGoods } from './options.js';
import { type GoodsSettings, readGoodsOptions } from './settings.js';

/**
 * Answers the calls of a dynamic product: the response body is what the buyer gets. Goods are made once for each
 * order and given again, byte for byte, to every call that is repeated. Mount it as a receiver, with an adapter such
 * as `toExpress(goods)`, and give its address as the `dynamic_url` of the product (specification: Product).
 *
 * @param make - Is given the order, and what is known of the call. After a crash it may be called again for goods
 *   that nobody was sent: let it find what it has set aside for the order, by `order.id` or `call.key`.
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
      'createGoods() needs a function that makes the goods of an order, as its second argument, and was given ' +
        `${nameType(make)}.`,
    );
  }
  return new Goods(readGoodsOptions(options), make);
}

/** What answers the calls of a dynamic product. Made by {@link createGoods}. */
export class Goods {
  readonly #settings: GoodsSettings;
  readonly #reporter: Reporter;
  readonly #making: Making;
  readonly #closing: Closing;
  #isAnnounced = false;

  /** @internal */
  constructor(settings: GoodsSettings, make: MakeGoods) {
    this.#settings = settings;
    this.#reporter = new Reporter(settings);
    this.#making = new Making(settings, make, this.#reporter);
    this.#closing = new Closing(this.#making, this.#reporter);
  }

  /** Takes a call from its bytes to its response: what an adapter calls. Never throws. */
  async receive(request: WebhookRequest): Promise<WebhookResponse<string | Uint8Array>> {
    const startedAt = performance.now();
    try {
      this.#announce();
      if (request.responseSent) this.#closing.waitFor(request.responseSent);
      const call = await verifyCall(request, this.#settings);
      if (call.outcome === 'rejected') {
        return this.#closing.finish(toResponse(this.#reporter.refused(call, startedAt)));
      }
      const how = { action: 'process', startedAt } as const;
      const given = await this.#reporter.watch(call, how, () => this.#making.give(call));
      return this.#closing.finish(toGoodsResponse(given));
    } catch (error) {
      this.#reporter.unverifiable(error, startedAt);
      return this.#closing.finish(toResponse({ outcome: 'failed', ran: [] }));
    }
  }

  /**
   * Ends well: stops the server, answers what has come, and waits for what is being made and has still to be
   * recorded. Then makes nothing more: calls are answered 503. Never rejects.
   *
   * @example
   * const goods = createGoods({ secret, store }, makeGoods);
   * process.once('SIGTERM', async () => {
   *   await goods.close({ server });
   *   process.exit();
   * });
   */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#closing.close(options);
  }

  /** Signs as the provider would, for `storefront-webhooks/testing`. */
  get [SIGN](): Signing {
    const { headerNames, secretSource } = this.#settings;
    return toSigning(secretSource ?? { find: () => null }, headerNames);
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
