import type { Hooks } from '../report/hooks.js';
import type { Telemetry } from '../report/telemetry.js';
import type { KeyBy } from '../request/key.js';
import type { RetiredSecret, SecretFunction } from '../request/secrets.js';
import type { Secret } from '../request/signature.js';
import type { Unwrap } from '../request/unwrap.js';
import type { EventSchemas } from '../schemas/events.js';
import type { OrderStatus } from '../schemas/order.js';
import type { IdempotencyStore } from '../stores/store.js';
import type { Confirm } from './confirm.js';
import type { HandOff } from './queue.js';

/**
 * No schemas. An empty type would also take schemas of your own, and give payloads the types of the specification. The
 * symbol is one that the declarations of a program can name.
 */
type NoSchemas = { readonly [Symbol.iterator]?: never };

/**
 * The options of {@link createReceiver}. Times are in milliseconds and sizes in bytes, unless the name of the
 * option contains another unit, as in `keepDays`.
 */
export interface ReceiverOptions<Schemas extends EventSchemas = NoSchemas, Tx = unknown> {
  /**
   * The account's webhook secret; or several, while one is being replaced; or a function of the request, for
   * several shops behind one server. The type allows `undefined`, for an environment variable: a list skips it,
   * and if no secret is left, the option is rejected.
   */
  secret: Secret | readonly (Secret | undefined)[] | SecretFunction | undefined;
  /**
   * Your own schemas by event name, which replace or extend the specification's schemas. Any Standard Schema.
   * Default: the schemas of the specification.
   */
  events?: Schemas;
  /** The prefix of the provider's headers, including the dash at its end. Default `X-Service-`. */
  headerPrefix?: string;
  /** Remembers which deliveries are done. Default: {@link memoryStore}, for one process. */
  store?: IdempotencyStore<Tx>;
  /**
   * Secrets that have been replaced, each with the time until which a worker accepts what was queued under it. The
   * receiver rejects requests signed with them. Default: no secrets.
   */
  retiredSecrets?: readonly RetiredSecret[];
  /**
   * Stores every verified delivery in a queue, whose worker runs the handlers. Default: the receiver runs them.
   */
  queue?: HandOff;
  /**
   * Separates receivers that share a store. Each service or shop needs a scope of its own: otherwise a delivery
   * that one has handled counts as done for all. Keep the scope of a receiver: under another one, delivered orders
   * would be delivered again. Default: `''`. A `secret` function returns its own.
   */
  scope?: string;
  /**
   * Identifies a delivery: two deliveries with the same key are the same. `'delivery'`: by id, event and content.
   * `'content'`: by event and content, whatever the ids. `'id'`: by the id alone, which is not signed, so only for
   * a provider that demonstrably needs it. A function makes the key out of the payload, for a provider whose
   * retries differ from one another. Default `'delivery'`.
   *
   * @example
   * const keyBy = ({ id, status }, { event }) =>
   *   event.startsWith('order:') ? `${id}:${status}` : undefined;
   */
  keyBy?: KeyBy;
  /**
   * Looks an order up before its handlers run, which then run only if it agrees: `confirmOrders(client)` of
   * `storefront-webhooks/api`. Called for events that begin with `order:` and whose payload has a text as its
   * `id`. A delivery that disagrees is treated as one that does not fit its event. Default: the signature is
   * enough.
   *
   * @example
   * createReceiver({ secret, store, confirm: confirmOrders(client) });
   */
  confirm?: Confirm;
  /** How long the store remembers a delivery, in days. Default 30, at least 7. */
  keepDays?: number;
  /** The order states that mean paid, which `order:paid` may have: at least one. Default `[100]`, completed. */
  paidStatuses?: readonly OrderStatus[];
  /**
   * The largest age of a payload by its `updated_at` (a text or a number of seconds), in milliseconds. A text
   * without an offset is in UTC. A payload without `updated_at` passes; one whose `updated_at` cannot be read, or
   * is more than 5 minutes in the future, does not. A retry has the age of its payload: choose more time than the
   * provider retries for, or after an outage only `recover` runs the delivery. Default: any age.
   */
  maxAge?: number;
  /**
   * Takes the record out of bodies that contain more: `true` for the form `{ event, data: { … } }`, or a function
   * of the parsed body. An event in the body is signed, so the event header is optional; with a function, the
   * event in the body takes precedence over the header. Default `false`: the body is the record.
   *
   * @example
   * createReceiver({ secret, unwrap: ({ event, data }) => ({ event, payload: data }) });
   */
  unwrap?: Unwrap;
  /** The largest accepted body, in bytes. Default 1 MiB. */
  limit?: number;
  /** The longest that a body may take to arrive, in milliseconds. Default 10 s. */
  bodyTimeout?: number;
  /**
   * The longest that the handlers of a delivery may run, in milliseconds. Most senders give up after 10 to 15 s,
   * and may disable the endpoint: use a `queue` for work that takes longer. Default 60 s.
   */
  timeout?: number;
  /**
   * Functions that the receiver calls to report what happens. Default: the receiver logs what must not go
   * unnoticed on stderr.
   */
  hooks?: Hooks;
  /**
   * Logs every delivery on stderr, with its outcome and duration. Default: whether the environment variable
   * `DEBUG` names `storefront-webhooks`.
   */
  debug?: boolean;
  /**
   * Traces and counts deliveries: `openTelemetry()` of `storefront-webhooks/opentelemetry`.
   * Default: no spans and no metrics.
   */
  telemetry?: Telemetry;
}
