import type { Confirm } from './process/confirm.js';
import type { HandOff } from './process/hand-off.js';
import type { Hooks } from './report/hooks.js';
import type { Telemetry } from './report/telemetry.js';
import type { KeyBy } from './request/key.js';
import type { RetiredSecret, SecretFunction } from './request/secret-source.js';
import type { Secret } from './request/signature.js';
import type { Unwrap } from './request/unwrap.js';
import type { EventSchemas } from './schemas/events.js';
import type { OrderStatus } from './schemas/order.js';
import type { IdempotencyStore } from './stores/store.js';

/**
 * What {@link createReceiver} takes. Where a name says no unit, times are milliseconds and sizes are bytes;
 * another unit is in the name, as in `keepDays`.
 */
export interface ReceiverOptions<Schemas extends EventSchemas = EventSchemas> {
  /**
   * The account's webhook secret; several while one is being replaced; or a function of the request,
   * for several shops behind one server. `undefined` is allowed by type, for an environment variable. A
   * list leaves it out; where nothing is left, it is refused.
   */
  secret: Secret | readonly (Secret | undefined)[] | SecretFunction | undefined;
  /**
   * Schemas of your own by event name, over or beside those of the specification. Any Standard Schema.
   * Default: those of the specification.
   */
  events?: Schemas;
  /** What the provider's headers begin with, with the dash that ends it. Default `X-Service-`. */
  headerPrefix?: string;
  /** Where it is remembered which deliveries are done. Default: {@link memoryStore}, for one process. */
  store?: IdempotencyStore;
  /**
   * Secrets that have been replaced, each with the time until which a worker accepts what was queued under
   * it. A request that is signed with one of them is refused. Default: none.
   */
  retiredSecrets?: readonly RetiredSecret[];
  /** Hands every verified delivery to a queue, whose worker runs the handlers. Default: they run here. */
  queue?: HandOff;
  /**
   * Keeps receivers that share a store apart: each service or shop needs one of its own, or what one has
   * done is done for the others, too. Default: `''`. A `secret` function names its own.
   */
  scope?: string;
  /**
   * What makes two deliveries the same one: with `'delivery'` their id, event and content, with `'content'`
   * event and content, whatever their ids. `'id'`, the id alone, is only for a provider that is proven to
   * need it, because the id is not signed. A function makes it out of the payload: for a provider whose retries
   * differ from one another. Default `'delivery'`.
   *
   * @example
   * const keyBy = ({ id, status }, { event }) =>
   *   event.startsWith('order:') ? `${id}:${status}` : undefined;
   */
  keyBy?: KeyBy;
  /**
   * Looks an order up before its handlers run, which then run only where it agrees: `confirmOrders(client)` of
   * `storefront-webhooks/api`. Asked of events that begin with `order:` and whose payload has a text for its `id`.
   * What disagrees is treated as what does not fit its event. Default: the signature is believed.
   *
   * @example
   * createReceiver({ secret, store, confirm: confirmOrders(client) });
   */
  confirm?: Confirm;
  /** How long a delivery is remembered, in days. Default 30, at least 7. */
  keepDays?: number;
  /** Order states that mean paid, and that `order:paid` may have: at least one. Default `[100]`, completed. */
  paidStatuses?: readonly OrderStatus[];
  /**
   * The largest age of a payload by its `updated_at`, in milliseconds, whether that is text or a number of
   * seconds. One that has none passes; one that
   * cannot be read, or lies more than 5 minutes ahead, does not. Default: any age.
   */
  maxAge?: number;
  /**
   * Takes the record out of bodies that hold more: `true` for the form `{ event, data: { … } }`, or a function of
   * the parsed body. The event that a body names is signed, so the header need not be there; with a function, it
   * wins over the header. Default `false`: the body is the record.
   *
   * @example
   * createReceiver({ secret, unwrap: ({ event, data }) => ({ event, payload: data }) });
   */
  unwrap?: Unwrap;
  /** The largest body, in bytes. Default 1 MiB. */
  limit?: number;
  /** The longest a body may take to arrive, in milliseconds. Default 10 s. */
  bodyTimeout?: number;
  /**
   * The longest the handlers of a delivery may run, in milliseconds. Most senders give up after 10 to 15 s, and may
   * switch the endpoint off: hand what takes longer to a `queue`. Default 60 s.
   */
  timeout?: number;
  /** What a program is told while it runs. Default: what must not go unnoticed is told on stderr. */
  hooks?: Hooks;
  /**
   * Tells of every delivery on stderr: its outcome and how long it took. Default: whether the environment
   * variable `DEBUG` names `storefront-webhooks`.
   */
  debug?: boolean;
  /**
   * Traces and counts what happens: `openTelemetry()` of `storefront-webhooks/opentelemetry`.
   * Default: nothing is.
   */
  telemetry?: Telemetry;
}
