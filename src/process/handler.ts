import type { DeliverySource } from '../request/delivery.js';
import type { UnsignedRequest } from '../request/request.js';
import type { Issue } from '../schemas/issue.js';
import type { OrderStatus } from '../schemas/order.js';
import type { Json, Jsonable } from '../schemas/values.js';

/** Maps event names to payload types. */
export type PayloadMap = object;

type NameOf<Payloads extends PayloadMap> = keyof Payloads & string;

/** `'order:*'` for every known name that begins with `order:`. */
export type Family<Name extends string> = Name extends `${infer Prefix}:${string}`
  ? `${Prefix}:*`
  : never;

/** The event names that a pattern covers. */
export type NamesOf<Payloads extends PayloadMap, P> = P extends '*'
  ? NameOf<Payloads>
  : P extends `${infer Prefix}:*`
    ? Extract<NameOf<Payloads>, `${Prefix}:${string}`>
    : Extract<P, NameOf<Payloads>>;

/** The event that a handler receives. */
export interface WebhookEvent<Event extends string, Payload> {
  /**
   * The id of the webhook log (header `X-Service-Webhook`). Opaque, and not signed unless `unwrap` returns it.
   * Begins with `content:` if the request had no id.
   */
  readonly id: string;
  readonly event: Event;
  readonly payload: Payload;
  /**
   * The idempotency key, 64 hexadecimal digits: of the delivery or, with `oncePer`, of the effect. The key is the
   * same in every attempt, and no header can change it to the key of another delivery. Use it for an effect
   * ledger, or as the `Idempotency-Key` of a service that you call.
   */
  readonly key: string;
  /** The name under which the store keeps what the handler has done: see {@link HandlerOptions}. */
  readonly handler: string;
  /** Fields that were missing or of another type, and so are `undefined`; in `onInvalid`, what is wrong. */
  readonly issues: readonly Issue[];
  /** The body as received. */
  readonly rawBody: Uint8Array;
  /**
   * The address and headers of the delivery, for what you put into your own address, such as `?order=`. Not
   * signed, like `id`: compare it with the payload before you trust it. Empty if the delivery comes back from a
   * store that does not keep it, such as one in memory.
   */
  readonly request: UnsignedRequest;
  /** The scope that the `secret` function returned; otherwise the receiver's `scope`. */
  readonly scope: string;
  /** The number of this attempt at the delivery, from 1. */
  readonly attempt: number;
  readonly receivedAt: Date;
  /** Fires when the time limit has passed or another process has taken over: stop, and write nothing more. */
  readonly signal: AbortSignal;
  readonly source: DeliverySource;
  /**
   * Runs a step once per delivery and handler. The store remembers its result across retries, so the result has to
   * be JSON. A step that throws runs again at the next retry. The receiver waits for steps that the handler does
   * not await, and the handler fails if one of them fails. Once the failure is recorded, no further step begins
   * (`lease_lost`). Steps of the same name are one step, so a name that is empty or contains `undefined` is rejected
   * (`key_invalid`).
   *
   * @example
   * const invoice = await once('invoice', () => createInvoice(payload));
   * await once('mail', () => sendMail(payload.email, invoice));
   */
  readonly once: {
    <Result extends Json | undefined | void>(
      step: string,
      run: () => Result | Promise<Result>,
    ): Promise<Result>;
    <Result>(
      step: string,
      run: () => (Result & Jsonable<Result>) | Promise<Result & Jsonable<Result>>,
    ): Promise<Result>;
  };
}

/** The event of a handler with the option `transaction`. */
export type TransactionEvent<Event, Tx, InTransaction> = InTransaction extends true
  ? Event & {
      /** The driver's client of the transaction. It refuses statements once the handler has ended. */
      readonly tx: Tx;
    }
  : Event;

/** The event of one of several names: a union that `switch (event)` narrows. */
export type EventOf<Payloads extends PayloadMap, Name> =
  Name extends NameOf<Payloads> ? WebhookEvent<Name, Payloads[Name]> : never;

/**
 * Processes a delivery. When the returned promise resolves, the delivery is handled. If the handler throws, the
 * provider retries the delivery.
 */
export type Handler<Event> = (event: Event) => unknown;

/** The second argument of a `when`. */
export interface WhenInfo {
  readonly event: string;
  /** The receiver's `paidStatuses`. */
  readonly paidStatuses: readonly OrderStatus[];
}

/** Selects the deliveries for a handler, and says under which name the store remembers it. */
export interface HandlerOptions<Payload = unknown> {
  /**
   * The name under which the store remembers what the handler has done, forever. Default: the pattern. A handler
   * with a new name has done nothing yet: to rename a handler, give its first name as `formerly`.
   */
  name?: string;
  /**
   * The first name of a handler that was renamed, or its pattern if it had no name. The store still keeps what the
   * handler does under this name. Keep the option as long as the handler exists. A handler without a name that had
   * several patterns was stored under each of them, and this keeps only one. Default: the `name`.
   *
   * @example
   * receiver.on('order:paid', notify, { name: 'notify', formerly: 'order:paid', oncePer: (order) => order.id });
   */
  formerly?: string;
  /**
   * Returns whether a delivery is for this handler, synchronously. The receiver calls it before it claims the
   * delivery, so a delivery that is for no handler uses no key up, and is answered 200 `ignored`. If it throws,
   * its handler counts as failed: the others run, and the provider retries the delivery. If there is no other, the
   * delivery is not claimed, so no list of the store has it. Default: the handler runs for every delivery of its events.
   *
   * @example
   * receiver.on('order:updated', dispute, { when: (order) => order.status === 51 });
   */
  when?: (payload: Payload, info: WhenInfo) => boolean;
  /**
   * For a handler that mirrors state: skips a state of a record that is older than the newest one it has finished, by
   * the `id` and the `updated_at` of the payload: so all records that the handler gets, of whatever kind, need ids of
   * their own. States of one record run one at a time; several states with the same `updated_at` all run. A skipped
   * delivery counts as done: the answer is 200 `duplicate` if nothing else ran. A payload without an `id` that is a
   * text, or without a readable `updated_at`, always runs. Cannot be combined with `oncePer`, and needs a `name` if
   * there are several patterns. Default: every delivery runs, in whatever order they arrive.
   *
   * @example
   * receiver.on('order:*', ({ payload: order }) => saveOrder(order), { name: 'mirror', skipOlder: true });
   */
  skipOlder?: boolean;
  /**
   * Runs the handler in a transaction of the store's database, which also records the delivery as done: both are
   * committed together or not at all, whatever crashes. The event has `tx`, the driver's client of the transaction.
   * On SQLite, also in a Durable Object, the handler must not await anything. On D1, `tx` is a batch, to which the
   * handler adds its writes.
   *
   * Handlers without the option run after it, once it is committed. The database ends the transaction after the
   * receiver's `timeout`. After a deadlock the handler runs again. Cannot be combined with `skipOlder` and with
   * `once()`. Only for `postgresStore` with a pool, `sqliteStore`, `d1Store` and `storageStore`. Default: `false`.
   *
   * @example
   * receiver.onPaid(async ({ payload: order, tx }) => {
   *   await tx.query('UPDATE licence SET order_id = $1 WHERE id = $2', [order.id, 7]);
   * }, { transaction: true });
   */
  transaction?: boolean;
}

/** The options of a handler that runs once per key of its own. */
export interface EffectOptions<Payload> extends HandlerOptions<Payload> {
  /** Required, because the store remembers the effects under it forever: see {@link HandlerOptions.name}. */
  name: string;
  /**
   * Returns a key. The handler runs once per key, whatever the delivery: across endpoints, for replays under new
   * ids, and for any of its events. Takes exact event names and no family, which would include new events by
   * itself. The key belongs to this handler: two handlers have separate effects. Two services that share a store
   * need two `scope`s. A durable store remembers the key forever. For the delivery of paid orders, `.onPaid()` has it.
   *
   * @example
   * receiver.on(['order:paid', 'order:updated'], ({ payload: order }) => revoke(order), {
   *   name: 'revoke',
   *   when: ({ status }) => status === 51 || status === 56,
   *   oncePer: (order) => order.id,
   * });
   */
  oncePer: (payload: Payload) => string;
  /** Not for effects: work that is done once has no newer state. Default: `false`. */
  skipOlder?: false;
}

/**
 * The options of a handler for a family of events. A family also covers future events, so it can have no
 * `oncePer`.
 */
export interface FamilyOptions<Payload> extends HandlerOptions<Payload> {
  /** Not allowed for a family: use {@link EffectOptions} with exact names. Default: absent, as it has to be. */
  oncePer?: (payload: Payload) => FamilyHasNoKey;
}

type FamilyHasNoKey =
  "oncePer takes exact event names, and no family, which would include new events by itself: list them, as ['order:paid', 'order:updated']";

/** The options of a handler for one pattern or several. */
export type OptionsOf<Payloads extends PayloadMap, Pattern> = [Pattern] extends [NameOf<Payloads>]
  ? EffectOptions<Payloads[Pattern]> | HandlerOptions<Payloads[Pattern]>
  : FamilyOptions<Payloads[NamesOf<Payloads, Pattern>]>;
