import { WebhookError } from '../errors/errors.js';
import { safely } from '../errors/log.js';
import type { Telemetry } from '../report/telemetry.js';
import type { Delivery } from '../request/delivery.js';
import { withTimeout } from '../runtime/timing.js';
import type { Issue } from '../schemas/issue.js';
import type { OrderStatus } from '../schemas/order.js';
import { isJsonObject, type JsonObject } from '../schemas/values.js';

/** An order as a delivery states it, before its handlers run. */
export interface StatedOrder {
  /** The payload as its handlers get it. Its `id` is a text. */
  readonly payload: JsonObject & { readonly id: string };
  /** The name of the event, which is not signed. */
  readonly event: string;
  /** The shop. */
  readonly scope: string;
  /** The receiver's `paidStatuses`. */
  readonly paidStatuses: readonly OrderStatus[];
}

/**
 * The result of looking an order up.
 *
 * - `agreed`: the handlers run. `kept`: the answer of a recent request was used again.
 * - `disagreed`: the delivery is treated as one that does not fit its event. `issues` name the fields, without
 *   values.
 * - `unavailable`: the service did not answer. The delivery is answered 503 and the provider retries it, unless
 *   `accepts` is true: then its handlers run without confirmation.
 */
export type Confirmation =
  | { readonly state: 'agreed'; readonly kept: boolean }
  | { readonly state: 'disagreed'; readonly issues: readonly Issue[] }
  | { readonly state: 'unavailable'; readonly cause: unknown; readonly accepts: boolean };

/**
 * Looks an order up before its handlers run. {@link createReceiver} calls it for every `order:` event that has a
 * handler left to run, under the lease of the delivery, and waits 7 s. If it rejects, that counts as
 * `unavailable`. `confirmOrders()` of `storefront-webhooks/api` makes one. If a `secret` function serves several
 * shops, make one for each shop.
 *
 * @example
 * const confirms = new Map<string, Confirm>([['eu', confirmOrders(client)]]);
 * const confirm: Confirm = async (order) => {
 *   const confirmOf = confirms.get(order.scope);
 *   if (!confirmOf) throw new Error(`no client for ${order.scope}`);
 *   return confirmOf(order);
 * };
 */
export type Confirm = (order: StatedOrder) => Promise<Confirmation>;

/** Longer than `confirmOrders()` takes, shorter than a sender's timeout. */
const CONFIRM_MS = 7_000;
/** Unconfirmed orders that run anyway are reported at most this often. */
const REPORT_MS = 60_000;

/** Whether the handlers of a delivery may run. `done`: none is left to run. */
export type Permission =
  | { readonly state: 'run' | 'done' | 'unavailable'; readonly issues?: undefined }
  | { readonly state: 'disagreed'; readonly issues: readonly Issue[] };

const STATES: readonly Confirmation['state'][] = ['agreed', 'disagreed', 'unavailable'];
const RUN: Permission = { state: 'run' };

interface ConfirmSettings {
  readonly confirm: Confirm | undefined;
  readonly paidStatuses: readonly OrderStatus[];
  readonly telemetry: Telemetry | undefined;
}

/** Confirms the orders of deliveries before their handlers run. */
export class OrderConfirmation {
  readonly #settings: ConfirmSettings;
  readonly #onError: (error: WebhookError, delivery: Delivery) => void;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(
    settings: ConfirmSettings,
    onError: (error: WebhookError, delivery: Delivery) => void,
  ) {
    this.#settings = settings;
    this.#onError = onError;
  }

  /**
   * Looks the order up, unless no handler is left to run. Never rejects.
   *
   * @param isDone - Whether none is left. Must not reject.
   */
  async ask(delivery: Delivery, isDone: () => Promise<boolean>): Promise<Permission> {
    const { confirm, paidStatuses, telemetry } = this.#settings;
    const { event, scope, payload } = delivery;
    // A delivery that does not fit its event is parked or rejected in any case.
    if (!confirm || delivery.kind === 'invalid' || !event.startsWith('order:')) return RUN;
    if (!hasTextId(payload)) return RUN;
    if (await isDone()) return { state: 'done' };
    const found = await find(confirm, { payload, event, scope, paidStatuses });
    const isKept = found.state === 'agreed' && found.kept;
    safely(() => telemetry?.confirmed?.(isKept ? 'kept' : found.state));
    if (found.state === 'agreed') return RUN;
    if (found.state === 'disagreed') return found;
    this.#tell(found, delivery);
    return found.accepts ? RUN : { state: 'unavailable' };
  }

  #tell({ cause, accepts }: Unavailable, delivery: Delivery): void {
    if (accepts && performance.now() - this.#reportedAt < REPORT_MS) return;
    if (accepts) this.#reportedAt = performance.now();
    const what = accepts
      ? 'Its handlers run anyway'
      : 'It is answered 503, and the provider retries it';
    const message = `The order could not be confirmed. ${what}.`;
    this.#onError(new WebhookError('confirmation_unavailable', message, { cause }), delivery);
  }
}

type Unavailable = Extract<Confirmation, { state: 'unavailable' }>;

async function find(confirm: Confirm, order: StatedOrder): Promise<Confirmation> {
  try {
    const found = await withTimeout(ask(), 'The confirm function', CONFIRM_MS);
    if (STATES.includes(found?.state)) return found;
    throw new TypeError(`confirm has to return a state that is one of ${STATES.join(', ')}.`);
  } catch (cause) {
    return { state: 'unavailable', cause, accepts: false };
  }

  // Async, because a function of the user may throw synchronously.
  async function ask() {
    return confirm(order);
  }
}

function hasTextId(payload: unknown): payload is StatedOrder['payload'] {
  return isJsonObject(payload) && typeof payload.id === 'string';
}
