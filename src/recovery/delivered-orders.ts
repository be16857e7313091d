import type { Order } from '../schemas/order.js';
import { effectsOf, type OrderHistory } from './order-history.js';
import type { ReconcileSettings } from './reconcile-options.js';

/** The deliveries of an order to its customer, as far as the shop knows. */
export interface Delivered {
  /** How often its goods were delivered. */
  readonly times: number;
  /** Whether a webhook that says that the order is reversed was handled. */
  readonly wasTakenBack: boolean;
  /**
   * Whether only older entries of the log can show whether the goods went out, and were taken back: the order is
   * reversed, and was paid before the first of these entries.
   */
  readonly isOlder: boolean;
}

/**
 * Returns what was delivered for each order. Asks the shop's `delivered`, its ledger, or the log together
 * with the store.
 */
export async function findDelivered(
  orders: readonly Order[],
  history: ReadonlyMap<string, OrderHistory>,
  settings: ReconcileSettings,
): Promise<ReadonlyMap<string, Delivered>> {
  if (orders.length === 0) return new Map();
  const { delivered } = settings;
  if (!delivered) return findByEffects(orders, history, settings);
  const given = await delivered(orders.map(({ id }) => id));
  const times = new Map<string, number>();
  for (const id of given) times.set(id, (times.get(id) ?? 0) + 1);
  // `delivered` leaves out goods that were taken back.
  return new Map(
    [...times].map(([id, often]) => [id, { times: often, wasTakenBack: false, isOlder: false }]),
  );
}

async function findByEffects(
  orders: readonly Order[],
  history: ReadonlyMap<string, OrderHistory>,
  settings: ReconcileSettings,
): Promise<ReadonlyMap<string, Delivered>> {
  const { ledger, receiver, reversedStatuses } = settings;
  const known = await Promise.all(
    orders.map(async (order) => {
      const found = history.get(order.id);
      const isReversed = reversedStatuses.some((one) => one === order.status);
      // The log may have other events of the order, but no paid one.
      const deliveries = found?.status
        ? found.deliveries
        : await unloggedEffects(order, isReversed, settings);
      return { id: order.id, isReversed, history: found, deliveries };
    }),
  );
  const effects = known.flatMap(({ deliveries }) => [...deliveries.values()].flat());
  const keys = [...new Set(effects.map(({ key }) => key))];
  const reversals = known.flatMap((one) => [...(one.history?.reversals ?? [])]);
  const done = new Set(
    (await receiver.findDone(ledger ? reversals : [...keys, ...reversals])) ?? [],
  );
  const entered = new Set(ledger && keys.length > 0 ? await ledger.entered(keys) : []);
  return new Map(
    known.map(({ id, isReversed, history: found, deliveries }) => {
      const times = ledger
        ? Math.max(0, ...countByHandler(deliveries, entered).values())
        : timesDone(found, deliveries, done);
      const { wasReversed = false, reversals: open } = found ?? {};
      const wasTakenBack = wasReversed || [...(open ?? [])].some((key) => done.has(key));
      const mayBeDelivered = times > 0 || receiver.isFront || hasPlain(deliveries);
      const isOlder = isReversed && !found?.status && !wasTakenBack && mayBeDelivered;
      return [id, { times, wasTakenBack, isOlder }];
    }),
  );
}

type Deliveries = OrderHistory['deliveries'];

/**
 * Returns the effects that handlers would have for an order whose payment the log does not mention. A reversed order
 * may have been paid, and delivered, long before.
 */
async function unloggedEffects(
  order: Order,
  isReversed: boolean,
  { receiver, urls }: ReconcileSettings,
): Promise<Deliveries> {
  const isPaid = receiver.isPaid(order);
  if (!isPaid && !isReversed) return new Map();
  // A handler may tell several paid states apart, so a paid order keeps its own.
  const asPaid = isPaid ? order : receiver.asPaid(order);
  return effectsOf(() => receiver.readOrder(asPaid, urls[0] ?? ''), receiver);
}

/** Whether a handler has its effect under the key of the delivery. */
function hasPlain(deliveries: Deliveries): boolean {
  return [...deliveries].some(([key, effects]) => effects.some((effect) => effect.key === key));
}

/**
 * Counts the deliveries that the log shows as handled, and those that only the store has as done, such as
 * after a recovery or a redrive.
 */
function timesDone(
  history: OrderHistory | undefined,
  deliveries: Deliveries,
  done: ReadonlySet<string>,
): number {
  const { handled = new Set<string>(), wasTaken = false } = history ?? {};
  const logged = Math.max(handled.size, wasTaken ? 1 : 0);
  const counts = [...countByHandler(deliveries, done).values()];
  // A handler that has done nothing may be the one that delivers the goods.
  if (counts.length === 0 || counts.includes(0)) return logged;
  // An effect with a key of its own (`oncePer`) was done once, however many deliveries there are. Count only
  // effects under the key of a delivery.
  const isPlain = (key: string) => deliveries.has(key) && !handled.has(key);
  const more = countByHandler(deliveries, new Set([...done].filter(isPlain)));
  return Math.max(logged, 1, handled.size + Math.max(...more.values()));
}

/** Counts, for each handler, its effects that are among `keys`. */
function countByHandler(
  deliveries: Deliveries,
  keys: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const found = new Map<string, Set<string>>();
  for (const { handler, key } of [...deliveries.values()].flat()) {
    const its = found.get(handler) ?? new Set();
    found.set(handler, its);
    if (keys.has(key)) its.add(key);
  }
  return new Map([...found].map(([handler, { size }]) => [handler, size]));
}
