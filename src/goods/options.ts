import type { WebhookEvent } from '../process/handler.js';
import type { ReceiverOptions } from '../process/options.js';
import type { Hooks } from '../report/hooks.js';
import type { Telemetry } from '../report/telemetry.js';
import type { OrderStatus } from '../schemas/order.js';
import type { JsonObject } from '../schemas/values.js';
import type { IdempotencyStore } from '../stores/store.js';
import type { GoodsOrder } from './order.js';

/** The goods that answer a call: text, bytes, or either with its content type. At most 1 MiB. */
export type MadeGoods =
  | string
  | Uint8Array
  | { readonly body: string | Uint8Array; readonly contentType: string };

/** A call for goods, without its order. */
export interface GoodsCall
  extends Pick<
    WebhookEvent<string, unknown>,
    | 'issues'
    | 'rawBody'
    | 'request'
    | 'scope'
    | 'attempt'
    | 'receivedAt'
    | 'signal'
    | 'once'
    | 'handler'
  > {
  /**
   * The key of the order's goods: 64 hexadecimal digits, the same in every attempt. Pass it to an effect ledger,
   * or as the `Idempotency-Key` of a service that you call.
   */
  readonly key: string;
}

/** Makes the goods of an order. If it throws, the call is answered 500, and the next call runs it again. */
export type MakeGoods = (order: GoodsOrder, call: GoodsCall) => MadeGoods | Promise<MadeGoods>;

/** A call as it arrived. None of it is verified. */
export interface UnprovenCall {
  /** The path as it was sent, without the query, such as `/goods`; empty if the adapter does not know it. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** All headers of the call, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Decides whether a call may have goods. Return `true`, or the order from your own records or the provider's API,
 * which then replaces the order in the call. If it returns `false` or nothing, the call is answered 403, and no
 * goods are made.
 */
export type Allow = (
  order: GoodsOrder,
  call: UnprovenCall,
) => Allowed | null | undefined | Promise<Allowed | null | undefined>;

type Allowed = boolean | object;

/** The parts that the provider's contract leaves open: how to verify a call, and where in the body its order is. */
export interface GoodsVerifyOptions {
  /**
   * Whether calls are signed like webhooks, in `X-Service-Signature` over the bytes of the body. `false` needs
   * {@link GoodsVerifyOptions.allow}, because otherwise anyone could get the goods. Default true.
   */
  signed?: boolean;
  /**
   * Decides which calls may have goods, in addition to the signature or instead of it. Without it, the signature
   * alone decides, so anyone with a signed body of the order gets the goods. In a signed call, the order needs a
   * `status` that means paid, unless `allow` returns the order. An order's id is not secret: put a token into the
   * address too.
   *
   * @example
   * allow: hasToken(process.env.GOODS_TOKEN)
   */
  allow?: Allow;
  /** The event that the unsigned header has to name. Default: the header is ignored and may be missing. */
  event?: string;
  /**
   * Extracts the order from a body that holds more, or looks it up. Default: the body is the order. In a signed
   * call, the returned order needs a `status`, unless `allow` returns the order.
   *
   * @example
   * order: ({ data }) => data
   */
  order?: (body: JsonObject) => unknown;
}

/**
 * The options of {@link createGoods}. If a name states no unit, times are milliseconds and sizes are bytes. There
 * is no `queue`: the goods are the answer.
 */
export interface GoodsOptions {
  /**
   * The account's webhook secret, as a receiver takes it. Without it, only `verify: { signed: false }` is allowed.
   */
  secret?: ReceiverOptions['secret'];
  /**
   * Keeps the goods, so that repeated calls get the same ones. Default: {@link memoryStore}, for one process; a
   * call that is repeated after a restart gets new goods.
   */
  store?: IdempotencyStore;
  /** How to verify and read a call. Default: the call is signed, and its body is the order. */
  verify?: GoodsVerifyOptions;
  /**
   * Returns a text that identifies the goods: calls with the same text get the same goods. Use it if the provider
   * calls once for each product of an order. Default: the `id` of the order.
   *
   * @example
   * oncePer: (order) => `${order.id}:${order.product_id}`
   */
  oncePer?: (order: GoodsOrder) => string;
  /**
   * The order states that mean paid: at least one. A call with an order in another state is answered 422, and so
   * is a signed call without a status, unless `verify.allow` returns the order. Default `[100]`, completed.
   */
  paidStatuses?: readonly OrderStatus[];
  /** Separates services or shops that share a store. Default: `''`. A `secret` function returns its own scope. */
  scope?: string;
  /** The prefix of the provider's headers, including its final dash. Default `X-Service-`. */
  headerPrefix?: string;
  /** The largest body of a call. Default 1 MiB. */
  limit?: number;
  /** The longest a body may take to arrive. Default 10 s. */
  bodyTimeout?: number;
  /**
   * The longest that making the goods may take. Goods that are ready a few seconds later go to the next call. If they
   * take longer still, that call makes them again. Default 60 s.
   */
  timeout?: number;
  /** Receive outcomes, rejections and errors, with `goods` as the event. Default: they are reported on stderr. */
  hooks?: Hooks;
  /** Logs every call on stderr. Default: whether the environment variable `DEBUG` names `storefront-webhooks`. */
  debug?: boolean;
  /** Traces and counts calls, like a receiver's deliveries. Default: no spans and no metrics. */
  telemetry?: Telemetry;
}
