import type { Order } from '../schemas/order.js';
import { type Evidence, effectsOf } from './evidence.js';
import type { ReconcileSettings } from './reconcile-options.js';

/** What the shop has done for an order. */
export interface Delivered {
  /** How often its goods went out. */
  readonly times: number;
  /** Whether the news that it is reversed was handled. */
  readonly wasTakenBack: boolean;
}

/** Finds what was done for each of these orders: asks the shop, its ledger, or the log together with the store. */
export async function findDelivered(
  orders: readonly Order[],
  evidence: ReadonlyMap<string, Evidence>,
  settings: ReconcileSettings,
): Promise<ReadonlyMap<string, Delivered>> {
  if (orders.length === 0) return new Map();
  const { delivered } = settings;
  if (!delivered) return findByEffects(orders, evidence, settings);
  const given = await delivered(orders.map(({ id }) => id));
  const times = new Map<string, number>();
  for (const id of given) times.set(id, (times.get(id) ?? 0) + 1);
  // What was taken back is left out.
  return new Map([...times].map(([id, often]) => [id, { times: often, wasTakenBack: false }]));
}

async function findByEffects(
  orders: readonly Order[],
  evidence: ReadonlyMap<string, Evidence>,
  settings: ReconcileSettings,
): Promise<ReadonlyMap<string, Delivered>> {
  const { ledger, receiver } = settings;
  const known = await Promise.all(
    orders.map(async (order) => {
      const found = evidence.get(order.id);
      // What the log tells of it may be another event only.
      const deliveries = found?.standing
        ? found.deliveries
        : await unloggedEffects(order, settings);
      return { id: order.id, evidence: found, deliveries };
    }),
  );
  const effects = known.flatMap(({ deliveries }) => [...deliveries.values()].flat());
  const keys = [...new Set(effects.map(({ key }) => key))];
  const reversals = known.flatMap((one) => [...(one.evidence?.reversals ?? [])]);
  const done = new Set(
    (await receiver.findDone(ledger ? reversals : [...keys, ...reversals])) ?? [],
  );
  const entered = new Set(ledger && keys.length > 0 ? await ledger.entered(keys) : []);
  return new Map(
    known.map(({ id, evidence: found, deliveries }) => {
      const times = ledger
        ? Math.max(0, ...countByHandler(deliveries, entered).values())
        : timesDone(found, deliveries, done);
      const { wasReversed = false, reversals: open } = found ?? {};
      const wasTakenBack = wasReversed || [...(open ?? [])].some((key) => done.has(key));
      return [id, { times, wasTakenBack }];
    }),
  );
}

type Deliveries = Evidence['deliveries'];

/** What would be done for an order that no log tells of. */
async function unloggedEffects(
  order: Order,
  { receiver, urls }: ReconcileSettings,
): Promise<Deliveries> {
  if (!receiver.isPaid(order)) return new Map();
  return effectsOf(() => receiver.readOrder(order, urls[0] ?? ''), receiver);
}

/** What the log says was handled, and beside it what the store says is done, as by recovery or a redrive. */
function timesDone(
  evidence: Evidence | undefined,
  deliveries: Deliveries,
  done: ReadonlySet<string>,
): number {
  const { handled = new Set<string>(), wasTaken = false } = evidence ?? {};
  const told = Math.max(handled.size, wasTaken ? 1 : 0);
  const counts = [...countByHandler(deliveries, done).values()];
  // Where a handler is left, its goods may be what is missing.
  if (counts.length === 0 || counts.includes(0)) return told;
  // What runs once for a key of its own has had nothing more to do.
  const isPlain = (key: string) => deliveries.has(key) && !handled.has(key);
  const more = countByHandler(deliveries, new Set([...done].filter(isPlain)));
  return Math.max(told, 1, handled.size + Math.max(...more.values()));
}

/** How many of the effects of each handler are among these. */
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
