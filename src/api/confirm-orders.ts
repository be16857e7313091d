import { UsageError } from '../errors.js';
import { OptionChecks } from '../option-checks.js';
import type { Confirm, Confirmation, StatedOrder } from '../process/confirm.js';
import type { Order } from '../schemas/order.js';
import { hasMethods } from '../stores/methods.js';
import { withTimeout } from '../timing.js';
import { findDisagreements, NO_SUCH_ORDER } from './agreement.js';
import { ApiError } from './api-error.js';
import type { Client } from './client.js';

/** What {@link confirmOrders} takes beside a client. */
export interface ConfirmOptions {
  /**
   * For how long an order that was asked for is believed, in milliseconds: several deliveries of one order then cost
   * one request. What it does not agree with is asked for again. Default 5 s.
   */
  keep?: number;
  /**
   * What becomes of deliveries while the service cannot be asked: `'refuse'` answers 503, and they come
   * again; `'accept'` has their handlers run. Default `'refuse'`.
   */
  whenDown?: 'refuse' | 'accept';
}

/** The part of a client that is needed. */
export interface OrderReader {
  readonly orders: Pick<Client['orders'], 'get'>;
}

const NAMES = ['keep', 'whenDown'] as const satisfies (keyof ConfirmOptions)[];
/** How many orders are believed at a time. */
const MAX_KEPT = 1_000;
/** Less than the receiver waits, and for all requests that one delivery needs. */
const TIMEOUT_MS = 5_000;

const checks = new OptionChecks('confirmOrders');

/**
 * Has a receiver fetch each order before its handlers run, and run them only where it agrees: the same `id`,
 * `product_id`, `email`, `value`, `currency` and `quantity`. One that is stated to be paid has to be paid still;
 * another one must not be older than what is stated. For goods worth money: a secret that has leaked is not enough
 * then, and what was refunded meanwhile is not delivered.
 *
 * @param client - What `createClient()` makes. One that tries again has 5 s for all of it.
 * @throws {UsageError} `option_invalid`
 *
 * @example
 * const receiver = createReceiver({ secret, store, confirm: confirmOrders(client) });
 */
export function confirmOrders(client: OrderReader, options: ConfirmOptions = {}): Confirm {
  checks.check(
    typeof client?.orders === 'object' && hasMethods(client.orders, 'get'),
    'client',
    'what createClient() makes',
  );
  checks.check(typeof options === 'object' && options !== null, 'keep', 'in an object');
  checks.checkNames(Object.keys(options), NAMES);
  const { keep = 5_000, whenDown = 'refuse' } = options;
  checks.check(
    typeof keep === 'number' && keep >= 0 && keep <= 60_000,
    'keep',
    'a number from 0 to 60000: what is refunded meanwhile is delivered',
  );
  checks.check(whenDown === 'refuse' || whenDown === 'accept', 'whenDown', "'refuse' or 'accept'");
  const asked = new AskedOrders(client, keep);
  return async (stated) => {
    try {
      return await withTimeout(confirm(stated, asked), 'The service', TIMEOUT_MS);
    } catch (cause) {
      return { state: 'unavailable', cause, accepts: whenDown === 'accept' };
    }
  };
}

async function confirm(stated: StatedOrder, asked: AskedOrders): Promise<Confirmation> {
  const { id } = stated.payload;
  const startedAt = performance.now();
  const known = asked.lately(id);
  if (known) {
    const [issue] = judge(stated, await known);
    if (!issue) return { state: 'agreed', kept: true };
  }
  // It may be older than the delivery: what is asked for from now on is not. Others may have asked by now.
  const issues = judge(stated, await (asked.lately(id, startedAt) ?? asked.ask(id)));
  return issues.length > 0 ? { state: 'disagreed', issues } : { state: 'agreed', kept: false };
}

function judge(stated: StatedOrder, order: Order | undefined) {
  return order ? findDisagreements(stated, order) : NO_SUCH_ORDER;
}

interface Asked {
  readonly at: number;
  /** `undefined` where there is no such order. */
  readonly order: Promise<Order | undefined>;
  isOver: boolean;
}

/** The orders that were asked for a moment ago, or are being asked for. */
class AskedOrders {
  readonly #byId = new Map<string, Asked>();
  readonly #client: OrderReader;
  readonly #keepMs: number;

  constructor(client: OrderReader, keepMs: number) {
    this.#client = client;
    this.#keepMs = keepMs;
  }

  /** @param since - Asked for no earlier than that. */
  lately(id: string, since = Number.NEGATIVE_INFINITY): Promise<Order | undefined> | undefined {
    const asked = this.#byId.get(id);
    if (!asked || asked.at < since) return undefined;
    const isFresh = performance.now() - asked.at < this.#keepMs;
    return isFresh || !asked.isOver ? asked.order : undefined;
  }

  ask(id: string): Promise<Order | undefined> {
    const order = fetchOrder(this.#client, id);
    const asked: Asked = { at: performance.now(), order, isOver: false };
    this.#byId.delete(id);
    this.#byId.set(id, asked);
    const [oldest = id] = this.#byId.keys();
    if (this.#byId.size > MAX_KEPT) this.#byId.delete(oldest);
    order.then(
      () => {
        asked.isOver = true;
      },
      () => {
        if (this.#byId.get(id) === asked) this.#byId.delete(id);
      },
    );
    return order;
  }
}

async function fetchOrder({ orders }: OrderReader, id: string): Promise<Order | undefined> {
  try {
    return await orders.get(id, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    // The id is a sender's to choose, also one that no order can have.
    const isNone = error instanceof UsageError && error.code === 'parameter_invalid';
    if (isNone || (error instanceof ApiError && error.code === 'not_found')) return undefined;
    throw error;
  }
}
