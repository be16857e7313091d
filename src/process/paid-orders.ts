import { UsageError } from '../errors/errors.js';
import { isPaid, type Order } from '../schemas/order.js';
import type { EventOf, Handler, PayloadMap, TransactionEvent } from './handler.js';
import { checkOptionNames } from './handler-options.js';
import type { AnyHandler, Router } from './router.js';

/**
 * The events whose payload is an order (specification: Events). Each can report a paid one: the specification shows no
 * transitions, so an order that costs nothing may be paid when it is created.
 */
const PAID_EVENTS = ['order:created', 'order:paid', 'order:updated'] as const;

type PaidEvent = (typeof PAID_EVENTS)[number];
type PaidOrder = Pick<Order, 'id' | 'status'>;

/** The handler of `.onPaid()`. Schemas of your own have to keep the id and the status of an order. */
export type PaidHandler<P extends PayloadMap, Tx, InTransaction> = [P] extends [
  Readonly<Record<PaidEvent, PaidOrder>>,
]
  ? Handler<TransactionEvent<EventOf<P, PaidEvent>, Tx, InTransaction>>
  : SchemaLosesOrder;

type SchemaLosesOrder =
  'onPaid needs `id` (a text) and `status` in the payloads of order:created, order:paid and order:updated: keep both in the schemas of your own';

/** The options of a handler for paid orders, which has its own `when` and `oncePer`. */
export interface PaidOptions {
  /**
   * The name under which the store remembers forever which orders the handler has delivered. A second handler for
   * paid orders needs a name of its own, and delivers each order, too. To add a name later, give `'onPaid'` as
   * `formerly`. Default `'onPaid'`.
   */
  name?: string;
  /**
   * The first name of a handler that was renamed, or that was registered with `.on()` and an `oncePer` that returns
   * the order's id: the orders that it has delivered stay delivered. Keep the option as long as the handler exists.
   * Default: the `name`.
   *
   * @example
   * receiver.onPaid(({ payload: order }) => deliver(order), { formerly: 'deliver' });
   */
  formerly?: string;
  /**
   * Runs the handler in a transaction of the store's database, which also records the order as done: both are
   * committed together or not at all. The event has `tx`, the driver's client of the transaction. The same as the
   * `transaction` of `.on()`, which lists the stores and the limits. Default: `false`.
   *
   * @example
   * receiver.onPaid(async ({ payload: order, tx }) => {
   *   await tx.query('UPDATE licence SET order_id = $1 WHERE id = $2', [order.id, 7]);
   * }, { transaction: true });
   */
  transaction?: boolean;
}

const NAME = 'onPaid';
const OPTIONS: readonly string[] = [
  'name',
  'formerly',
  'transaction',
] satisfies (keyof PaidOptions)[];
const FIXED = ['when', 'oncePer', 'skipOlder'];

/**
 * Adds a handler that runs once for each paid order, whichever event reports it.
 *
 * @throws {UsageError} `handler_invalid`, `handler_duplicate` or `registered_late`.
 */
export function addPaid(router: Router, handler: unknown, options: PaidOptions): void {
  if (!isHandler(handler)) {
    throw new UsageError(
      'handler_invalid',
      '.onPaid() takes a handler, and no event: .onPaid(({ payload }) => deliver(payload)).',
    );
  }
  checkOptionNames('.onPaid()', options, OPTIONS, (unknown) =>
    FIXED.includes(unknown)
      ? 'The handler runs once for each paid order: for another condition or key, use .on(). '
      : undefined,
  );
  const { name = NAME, formerly, transaction } = options;
  router.on(
    PAID_EVENTS,
    handler,
    {
      name,
      formerly,
      transaction,
      when: (payload, info) => isPaid(orderOf(payload), info),
      oncePer: (payload) => orderOf(payload).id,
    },
    '.onPaid(handler',
  );
}

function isHandler(handler: unknown): handler is AnyHandler {
  return typeof handler === 'function';
}

/**
 * Returns the payload. Throws if a schema of the user has removed the status: no order would count as paid, and the
 * provider would get 200 for each.
 */
function orderOf(payload: unknown): PaidOrder {
  if (isOrder(payload)) return payload;
  throw new UsageError(
    'handler_invalid',
    '.onPaid() needs the `id` (a text) and the `status` of each order. Keep both in your schemas, the option `events`.',
  );
}

function isOrder(payload: unknown): payload is PaidOrder {
  if (typeof payload !== 'object' || payload === null) return false;
  if (!('id' in payload && 'status' in payload)) return false;
  const { id, status } = payload;
  return typeof id === 'string' && (typeof status === 'number' || typeof status === 'string');
}
