import { Deadline } from './deadline.js';
import { redrive } from './drain.js';
import { pausing } from './fault-run.js';
import type { Fault, Point } from './faults.js';
import { type DeliverOne, Load } from './load.js';
import { Random } from './random.js';
import { Receivers } from './receivers.js';
import { Sender } from './sender.js';
import type { TestedStore } from './stores.js';

const PROCESSES = 3;
export const ORDERS_PREFIX = 'both-';

/** The points in the path of a delivery with a single handler that runs once for each order. */
const POINTS: readonly Point[] = [
  'before-claim',
  'after-claim',
  'before-plain',
  'after-plain',
  'before-ledger',
  'in-transaction',
  'after-commit',
  'before-complete',
  'after-complete',
];

export interface OrdersRun {
  readonly load: Load;
  readonly sender: Sender;
  readonly receivers: Receivers;
  /** Updates that report an order as not paid yet. */
  readonly unpaid: number;
  readonly redriven: number;
}

/** Reports each order by both paid events while the receivers are killed. */
export async function runOrders(
  store: TestedStore,
  seed: number,
  { orders, kills, limitMs }: { orders: number; kills: number; limitMs: number },
): Promise<OrdersRun> {
  const random = new Random(seed);
  const plan = planKills(random, { orders, kills });
  const pauses = pausing(seed);
  const receivers = new Receivers(store, plan, (start) => ({
    ...pauses(start),
    CHAOS_HANDLERS: 'orders',
    CHAOS_TELLS: '1',
  }));
  await receivers.start(PROCESSES);
  const sender = new Sender(() => receivers.targets);
  let unpaid = 0;
  const load = new Load(sender, {
    prefix: ORDERS_PREFIX,
    seed,
    deadline: new Deadline(`The run of both events on ${store.name}`, limitMs),
    // While planned faults are left, send further orders, one at a time.
    pace: (sent) => (sent < orders ? orders - sent : Number(receivers.faults < plan.length)),
    send(orderId, deliverOne) {
      // Each of the sequences reports the order as unpaid twice.
      unpaid += 2;
      return random.pick(WAYS)(webhooksOf(orderId, deliverOne));
    },
  });
  try {
    await load.run();
    const redriven = await redrive(receivers.any);
    return { load, sender, receivers, unpaid, redriven };
  } finally {
    load.giveUp();
    await receivers.close();
    sender.close();
  }
}

type Webhooks = Readonly<Record<'unpaid' | 'updated' | 'paid', () => Promise<boolean>>>;

function webhooksOf(orderId: string, deliverOne: DeliverOne): Webhooks {
  const sent = (name: string, event: string, status: number) =>
    deliverOne({ id: `${orderId}-${name}`, event, orderId, status });
  return {
    unpaid: () => sent('unpaid', 'order:updated', 54),
    updated: () => sent('updated', 'order:updated', 100),
    paid: () => sent('paid', 'order:paid', 100),
  };
}

/** The sequences in which the events of an order arrive. */
const WAYS: readonly ((webhooks: Webhooks) => Promise<boolean[]>)[] = [
  ({ unpaid, updated, paid }) =>
    Promise.all([unpaid(), updated(), paid(), updated(), paid(), unpaid()]),
  ({ unpaid, updated, paid }) => oneByOne(unpaid, updated, paid, unpaid),
  ({ unpaid, updated, paid }) => oneByOne(unpaid, paid, updated, unpaid),
];

async function oneByOne(...sends: readonly (() => Promise<boolean>)[]): Promise<boolean[]> {
  const answers: boolean[] = [];
  for (const send of sends) answers.push(await send());
  return answers;
}

/** Plans kills, and no stops: waiting for a stopped process would take longer than the rest of the run. */
function planKills(
  random: Random,
  { orders, kills }: { readonly orders: number; readonly kills: number },
): Fault[] {
  const most = Math.max(2, Math.round(orders / kills));
  return Array.from({ length: kills }, (_, index) => ({
    signal: 'SIGKILL',
    frozenMs: 0,
    point: POINTS[index % POINTS.length] ?? 'before-claim',
    nth: random.between(1, most),
  }));
}
