import type { ReceiverOptions } from '../options.js';
import type { WebhookEvent } from '../process/handler.js';
import type { Hooks } from '../report/hooks.js';
import type { Telemetry } from '../report/telemetry.js';
import type { JsonObject } from '../schemas/json.js';
import type { OrderStatus } from '../schemas/order.js';
import type { IdempotencyStore } from '../stores/store.js';
import type { GoodsOrder } from './order.js';

/** What a call for goods is answered with: a text, bytes, or either with its content type. At most 1 MiB. */
export type MadeGoods =
  | string
  | Uint8Array
  | { readonly body: string | Uint8Array; readonly contentType: string };

/** What is known of a call for goods, beside its order. */
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
   * The key of the order's goods, 64 hexadecimal digits: the same in every attempt. For an effect ledger, or for
   * the `Idempotency-Key` of a service that you call.
   */
  readonly key: string;
}

/** Makes the goods of an order. What it throws is answered 500, and it is called again with the next call. */
export type MakeGoods = (order: GoodsOrder, call: GoodsCall) => MadeGoods | Promise<MadeGoods>;

/** A call as it came. Nothing of it is proven. */
export interface UnprovenCall {
  /** Without the query, as it was sent, such as `/goods`; empty where it is not known. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** All of them, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Says whether a call may have goods: `true`, or the order as your own records or the provider's API have it, which
 * is then believed in place of the one that came. `false` or nothing: it is answered 403, and nothing is made.
 */
export type Allow = (
  order: GoodsOrder,
  call: UnprovenCall,
) => Allowed | null | undefined | Promise<Allowed | null | undefined>;

type Allowed = boolean | object;

/** What the provider's contract leaves open: by what a call is known to be genuine, and where its order stands. */
export interface GoodsVerifyOptions {
  /**
   * Whether a call is signed as a webhook is, in `X-Service-Signature` over the bytes of its body. `false` needs
   * {@link GoodsVerifyOptions.allow}, because anybody could have the goods. Default true.
   */
  signed?: boolean;
  /**
   * Says which calls may have goods: beside the signature, or in place of it. Without it, the signature decides,
   * and with it whoever holds a signed body of the order.
   *
   * @example
   * allow: async ({ id }) => storefront.findOrder(id)
   */
  allow?: Allow;
  /** The event that the header has to name, which is not signed. Default: it is not looked at, and may be missing. */
  event?: string;
  /**
   * Takes the order out of a body that holds more, or finds it by what is in it. Default: the body is the order.
   *
   * @example
   * order: ({ data }) => data
   */
  order?: (body: JsonObject) => unknown;
}

/**
 * What {@link createGoods} takes. Where a name says no unit, times are milliseconds and sizes are bytes. There is no
 * `queue`: the goods are the answer.
 */
export interface GoodsOptions {
  /** The account's webhook secret, as a receiver takes it. Without it, only `verify: { signed: false }` is allowed. */
  secret?: ReceiverOptions['secret'];
  /**
   * Where the goods are kept, to be given again. Default: {@link memoryStore}, for one process, which makes
   * others after a restart.
   */
  store?: IdempotencyStore;
  /** How a call is verified and read. Default: signed, and its body is the order. */
  verify?: GoodsVerifyOptions;
  /**
   * By what goods are known, as a text: calls that give the same get the same goods. For orders of several products,
   * each of which is called for. Default: the `id` of the order.
   *
   * @example
   * oncePer: (order) => `${order.id}:${order.product_id}`
   */
  oncePer?: (order: GoodsOrder) => string;
  /**
   * The states of an order that mean paid: at least one. An order that states another one is answered 422, and one
   * that states none gets its goods. Default `[100]`, completed.
   */
  paidStatuses?: readonly OrderStatus[];
  /** Keeps services or shops that share a store apart. Default: `''`. A `secret` function names its own. */
  scope?: string;
  /** What the provider's headers begin with, with the dash that ends it. Default `X-Service-`. */
  headerPrefix?: string;
  /** The largest body of a call. Default 1 MiB. */
  limit?: number;
  /** The longest a body may take to arrive. Default 10 s. */
  bodyTimeout?: number;
  /** The longest that goods may take to be made. What is ready later is given to the next call. Default 60 s. */
  timeout?: number;
  /** What a program is told while it runs, with `goods` as the event. Default: it is told on stderr. */
  hooks?: Hooks;
  /** Tells of every call on stderr. Default: whether the environment variable `DEBUG` names `storefront-webhooks`. */
  debug?: boolean;
  /** Traces and counts calls, as a receiver's deliveries. Default: nothing is. */
  telemetry?: Telemetry;
}
