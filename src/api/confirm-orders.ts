import { UsageError, WebhookError } from '../errors/errors.js';
import { OptionChecks } from '../errors/option-checks.js';
import type { Confirm, Confirmation, StatedOrder } from '../process/confirm.js';
import { withTimeout } from '../runtime/timing.js';
import type { Issue } from '../schemas/issue.js';
import { hasMethods } from '../stores/platform.js';
import {
  type ComparedOrder,
  findDisagreements,
  hasSameTitle,
  NO_SUCH_ORDER,
  OTHER_TITLE,
  toCompared,
} from './agreement.js';
import { ApiError } from './api-error.js';
import type { ApiAttempt, ReadOptions } from './call-options.js';
import type { Client } from './client.js';

/** Options of {@link confirmOrders}. */
export interface ConfirmOptions {
  /**
   * For how long a fetched order is reused, in milliseconds, so that several deliveries of one order cost one
   * request. If a delivery disagrees with it, the order is fetched again. Default 5 s.
   */
  keep?: number;
  /**
   * How to treat deliveries while the service is down: `'refuse'` answers 503, and the provider retries them;
   * `'accept'` runs their handlers if there is no answer, or a 5xx. After any other error, for an `id` over
   * 100 characters or with others than letters, digits, `_` and `-`, and for a delivery that shared the request of
   * another one, the receiver answers 503, because the sender may have caused the error. Default `'refuse'`.
   */
  whenDown?: 'refuse' | 'accept';
}

/** The part of a client that {@link confirmOrders} needs. */
export interface OrderReader {
  readonly orders: Pick<Client['orders'], 'get'>;
  /** Tells a product from a payment, of which the title has to agree. Default: no title is compared. */
  readonly products?: {
    readonly get: (id: string, options?: ReadOptions) => Promise<unknown>;
  };
}

const NAMES = ['keep', 'whenDown'] as const satisfies (keyof ConfirmOptions)[];
/** The most orders to keep for reuse. */
const MAX_KEPT = 1_000;
/** The time limit for all requests of one delivery, shorter than the time that the receiver gives `confirm`. */
const TIMEOUT_MS = 5_000;

const checks = new OptionChecks('confirmOrders');

/**
 * Makes a receiver fetch each order before its handlers run, and run them only if the delivery agrees with
 * the order: the same `id`, `product_id`, `email`, `value`, `currency` and `quantity`, and the same
 * `product_title` if the order is of a payment and not of a product. If the delivery says that the order is
 * paid, the order still has to be paid; otherwise the order must not be older than the delivery says. Use it
 * for goods worth money: a leaked secret is then not enough to get goods, and an order that was refunded
 * meanwhile is not delivered.
 *
 * @param client - A client from `createClient()`. If it retries, all its tries share 5 s.
 * @throws {UsageError} `option_invalid`
 *
 * @example
 * const receiver = createReceiver({ secret, store, confirm: confirmOrders(client) });
 */
export function confirmOrders(client: OrderReader, options: ConfirmOptions = {}): Confirm {
  checks.check(
    typeof client?.orders === 'object' && hasMethods(client.orders, 'get'),
    'client',
    'a client from createClient()',
  );
  checks.check(typeof options === 'object' && options !== null, 'keep', 'in an object');
  checks.checkNames(options, NAMES);
  const { keep = 5_000, whenDown = 'refuse' } = options;
  checks.check(
    typeof keep === 'number' && keep >= 0 && keep <= 60_000,
    'keep',
    'a number from 0 to 60000: an order that is refunded meanwhile is still delivered',
  );
  checks.check(whenDown === 'refuse' || whenDown === 'accept', 'whenDown', "'refuse' or 'accept'");
  const asked = new AskedOrders(client, keep);
  return async (stated) => {
    const awaited: Awaited[] = [];
    const confirming = confirm(stated, asked, client.products, awaited);
    try {
      return await withTimeout(confirming, 'The service', TIMEOUT_MS);
    } catch (cause) {
      // A service that has answered is not down, even if a pause before a retry then took the time that was left.
      const isSilent = !awaited.some(({ asked: { isAnswered } }) => isAnswered);
      // The request of another delivery may have no answer because its sender has hung up. A retry makes its own.
      const isOwn = awaited.at(-1)?.isOwn === true;
      const accepts =
        whenDown === 'accept' && isOwn && isSilent && isDown(cause, stated.payload.id);
      return { state: 'unavailable', cause, accepts };
    }
  };
}

/**
 * The codes of errors that a sender cannot cause. Too many requests are not among them: a sender of many deliveries
 * causes them.
 */
const DOWN: readonly string[] = ['timed_out', 'unreachable', 'server_failed', 'unavailable'];

/**
 * Returns whether the service is down, and not only for an id of the sender: a service may fail, or close the
 * connection, because of an id that is too long or has special characters.
 */
function isDown(cause: unknown, id: string): boolean {
  if (!/^[\w-]{1,100}$/.test(id)) return false;
  if (cause instanceof ApiError || cause instanceof WebhookError) return DOWN.includes(cause.code);
  return cause instanceof Error && cause.name === 'TimeoutError';
}

/** @param awaited - Gets the requests on which the confirmation depends. */
async function confirm(
  stated: StatedOrder,
  asked: AskedOrders,
  products: OrderReader['products'],
  awaited: Awaited[],
): Promise<Confirmation> {
  const { id } = stated.payload;
  const startedAt = performance.now();
  const known = asked.lately(id);
  if (known) {
    awaited.push({ asked: known, isOwn: false });
    const [issue] = await judge(stated, await known.order, products);
    if (!issue) return { state: 'agreed', kept: true };
  }
  // The kept order may be older than the delivery, so fetch it again, or share a request that another
  // delivery has begun since.
  const shared = asked.lately(id, startedAt);
  const fresh = shared ?? asked.ask(id);
  awaited.push({ asked: fresh, isOwn: !shared });
  const issues = await judge(stated, await fresh.order, products);
  return issues.length > 0 ? { state: 'disagreed', issues } : { state: 'agreed', kept: false };
}

async function judge(
  stated: StatedOrder,
  order: ComparedOrder | undefined,
  products: OrderReader['products'],
): Promise<readonly Issue[]> {
  if (!order) return NO_SUCH_ORDER;
  const issues = findDisagreements(stated, order);
  if (issues.length > 0 || !products || hasSameTitle(stated, order)) return issues;
  // A seller may rename a product. Of a payment, only the title says what was sold: its product_id is a marker that
  // belongs to no product (specification: Payment result), and the specification does not show the marker.
  return (await isProduct(products, order.product_id ?? '')) ? [] : OTHER_TITLE;
}

async function isProduct(
  products: NonNullable<OrderReader['products']>,
  id: string,
): Promise<boolean> {
  try {
    await products.get(id, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return true;
  } catch (cause) {
    if (isNoRecord(cause)) return false;
    // The answer is a product, but not of the client's variant.
    if (cause instanceof ApiError && cause.status === 200) return true;
    // Not an error that counts as an outage: the service has just returned the order.
    throw new Error('The product of the order could not be fetched.', { cause });
  }
}

interface Asked {
  readonly at: number;
  /** Resolves to `undefined` if there is no such order. */
  readonly order: Promise<ComparedOrder | undefined>;
  isOver: boolean;
  /** Whether the service has answered, and not by a 5xx. */
  isAnswered: boolean;
}

/** A request on which a confirmation depends. */
interface Awaited {
  readonly asked: Asked;
  /** Whether the confirmation has made the request itself. */
  readonly isOwn: boolean;
}

/** The orders that were fetched a moment ago, or are being fetched. */
class AskedOrders {
  readonly #byId = new Map<string, Asked>();
  readonly #client: OrderReader;
  readonly #keepMs: number;

  constructor(client: OrderReader, keepMs: number) {
    this.#client = client;
    this.#keepMs = keepMs;
  }

  /**
   * Returns a request that may be reused.
   *
   * @param since - The earliest time at which it may have been requested.
   */
  lately(id: string, since = Number.NEGATIVE_INFINITY): Asked | undefined {
    const asked = this.#byId.get(id);
    return asked && asked.at >= since && this.#isUsable(asked) ? asked : undefined;
  }

  ask(id: string): Asked {
    const order = fetchOrder(this.#client, id, ({ status = 500 }) => {
      if (status < 500) asked.isAnswered = true;
    });
    const asked: Asked = { at: performance.now(), order, isOver: false, isAnswered: false };
    this.#byId.delete(id);
    this.#byId.set(id, asked);
    this.#deleteOld();
    order.then(
      () => {
        asked.isOver = true;
      },
      () => {
        if (this.#byId.get(id) === asked) this.#byId.delete(id);
      },
    );
    return asked;
  }

  /** Deletes the expired orders, which are the oldest. Customer data must not stay in memory. */
  #deleteOld(): void {
    for (const [id, asked] of this.#byId) {
      if (this.#isUsable(asked) && this.#byId.size <= MAX_KEPT) return;
      this.#byId.delete(id);
    }
  }

  #isUsable({ at, isOver }: Asked): boolean {
    // A request that is not over by now never is: Workers cancel it if its sender hangs up, and its promise never settles.
    return performance.now() - at < (isOver ? this.#keepMs : TIMEOUT_MS);
  }
}

async function fetchOrder(
  { orders }: OrderReader,
  id: string,
  onAttempt: (attempt: ApiAttempt) => void,
): Promise<ComparedOrder | undefined> {
  try {
    const options = { signal: AbortSignal.timeout(TIMEOUT_MS), onAttempt };
    const order = await orders.get(id, options);
    return order && toCompared(order);
  } catch (error) {
    if (isNoRecord(error)) return undefined;
    throw error;
  }
}

function isNoRecord(error: unknown): boolean {
  // The sender chooses the id, so it may be one that no order can have.
  const isNone = error instanceof UsageError && error.code === 'parameter_invalid';
  return isNone || (error instanceof ApiError && error.code === 'not_found');
}
