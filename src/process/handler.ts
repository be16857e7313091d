import type { DeliverySource } from '../request/delivery.js';
import type { UnsignedRequest } from '../request/request.js';
import type { Issue } from '../schemas/issue.js';
import type { Json, Jsonable } from '../schemas/json.js';
import type { OrderStatus } from '../schemas/order.js';

/** Event name to payload type. */
export type PayloadMap = object;

type NameOf<Payloads extends PayloadMap> = keyof Payloads & string;

/** `'order:*'` for every known name that begins with `order:`. */
export type Family<Name extends string> = Name extends `${infer Prefix}:${string}`
  ? `${Prefix}:*`
  : never;

/** The names that a pattern covers. */
export type NamesOf<Payloads extends PayloadMap, P> = P extends '*'
  ? NameOf<Payloads>
  : P extends `${infer Prefix}:*`
    ? Extract<NameOf<Payloads>, `${Prefix}:${string}`>
    : Extract<P, NameOf<Payloads>>;

/** What a handler gets. */
export interface WebhookEvent<Event extends string, Payload> {
  /**
   * The id of the webhook log (header `X-Service-Webhook`); not signed unless `unwrap` gives it, and opaque.
   * Begins with `content:` where none was sent.
   */
  readonly id: string;
  readonly event: Event;
  readonly payload: Payload;
  /**
   * The idempotency key, 64 hexadecimal digits: the delivery's, or with `oncePer` the effect's. The same
   * in every attempt, and no header can change it for the key of another delivery. For an effect ledger,
   * or for the `Idempotency-Key` of a service that you call.
   */
  readonly key: string;
  /** The name under which is stored what the handler has done: see {@link HandlerOptions}. */
  readonly handler: string;
  /** Fields that were missing or of another type, and are `undefined` for it; in `onInvalid`, what is wrong. */
  readonly issues: readonly Issue[];
  /** The body as received. */
  readonly rawBody: Uint8Array;
  /**
   * Where it was sent, and with which headers: for what your own address says, as `?order=` does. Not signed,
   * like `id`: compare it with the payload before you believe it. Empty where a store in memory gives it again.
   */
  readonly request: UnsignedRequest;
  /** What the `secret` function named; else the receiver's `scope`. */
  readonly scope: string;
  /** 1 for the first attempt at this delivery. */
  readonly attempt: number;
  readonly receivedAt: Date;
  /** Fires when the time limit has passed or another process has taken over: stop, and write nothing more. */
  readonly signal: AbortSignal;
  readonly source: DeliverySource;
  /**
   * Runs a step once per delivery and handler: its result is remembered across retries. The result
   * has to be JSON. A step that throws runs again with the next retry.
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
    <Result extends object>(
      step: string,
      run: () => (Result & Jsonable<Result>) | Promise<Result & Jsonable<Result>>,
    ): Promise<Result>;
  };
}

/** The event of one of several names: a union that `switch (event)` narrows. */
export type EventOf<Payloads extends PayloadMap, Name> =
  Name extends NameOf<Payloads> ? WebhookEvent<Name, Payloads[Name]> : never;

/** What runs for a delivery. Once what it gives has resolved, the delivery is handled; what it throws has it sent again. */
export type Handler<Event> = (event: Event) => unknown;

/** What a `when` is told beside the payload. */
export interface WhenInfo {
  readonly event: string;
  /** The receiver's `paidStatuses`. */
  readonly paidStatuses: readonly OrderStatus[];
}

/** Which deliveries a handler is for, and how it is remembered. */
export interface HandlerOptions<Payload = unknown> {
  /**
   * The name under which is stored what the handler has done. Default: the pattern. It is for ever: a
   * handler of another name has done nothing yet. To change it, give the first one as `formerly`.
   */
  name?: string;
  /**
   * What it was called when it first was deployed, or its pattern where it had no name: what it has done is
   * stored under that, before and from now on. Keep it for as long as the handler lives. Default: it had no
   * other.
   *
   * @example
   * receiver.on('order:paid', deliver, { name: 'deliver', formerly: 'order:paid', oncePer: (order) => order.id });
   */
  formerly?: string;
  /**
   * Whether a delivery is for this handler. Asked before anything is claimed, so that a delivery it says no to
   * uses nothing up; where no handler is left, that is answered 200 `ignored`. It gives true or false at
   * once. What it throws fails the delivery. Without it, all deliveries of its events are.
   *
   * @example
   * receiver.on('order:updated', dispute, { when: (order) => order.status === 51 });
   */
  when?: (payload: Payload, info: WhenInfo) => boolean;
  /**
   * For a handler that mirrors state: it is not run for a state of a record that is older than one it has
   * finished, by the `id` and the `updated_at` of the payload. States of one record run one at a time; of one moment,
   * each is run. A delivery that is left out so is done: it is answered 200 `duplicate` where nothing else ran. A
   * payload without an `id`, as text, or a readable `updated_at` is run as it comes. Does not go with
   * `oncePer`, and needs a `name` where there are several patterns. Without it, each delivery is run, in
   * whatever order they come.
   *
   * @example
   * receiver.on('order:*', ({ payload: order }) => saveOrder(order), { name: 'mirror', skipOlder: true });
   */
  skipOlder?: boolean;
}

/** How a handler is remembered that runs once per key of its own. */
export interface EffectOptions<Payload> extends HandlerOptions<Payload> {
  /** Needed, because its effects are remembered under it for ever: see {@link HandlerOptions.name}. */
  name: string;
  /**
   * Runs the handler once per key, whatever the delivery: across endpoints, for replays under fresh ids, and
   * whichever of its events says it. Takes exact event names, no family, which a new event would join by
   * itself. The key belongs to this handler: two of them have effects of their own. Two services that share a
   * store need two `scope`s. A durable store remembers it for ever.
   *
   * @example
   * receiver.on(['order:paid', 'order:updated'], ({ payload }) => deliver(payload), {
   *   name: 'deliver',
   *   when: isPaid,
   *   oncePer: (order) => order.id,
   * });
   */
  oncePer: (payload: Payload) => string;
  /** What is done once has no newer state. Without it, as with `false`. */
  skipOlder?: false;
}

/** With what covers more events than it names, no key of an effect can be made. */
export interface FamilyOptions<Payload> extends HandlerOptions<Payload> {
  /** Not for a family: use {@link EffectOptions} with exact names. Without it, as it has to be. */
  oncePer?: (payload: Payload) => FamilyHasNoKey;
}

type FamilyHasNoKey =
  "oncePer takes exact event names, and no family, which a new event would join by itself: list them, as ['order:paid', 'order:updated']";

/** The options of a handler for a pattern, or for several. */
export type OptionsOf<Payloads extends PayloadMap, Pattern> = [Pattern] extends [NameOf<Payloads>]
  ? EffectOptions<Payloads[Pattern]> | HandlerOptions<Payloads[Pattern]>
  : FamilyOptions<Payloads[NamesOf<Payloads, Pattern>]>;
