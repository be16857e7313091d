import { Agent } from 'node:http';
import { Deadline } from './deadline.js';
import { pausing } from './fault-run.js';
import { GOODS_POINTS, planFaults } from './faults.js';
import { Random } from './random.js';
import { Receivers } from './receivers.js';
import { post } from './sender.js';
import type { TestedStore } from './stores.js';

const PROCESSES = 4;
/** The number of orders that call at the same time. */
const CONCURRENCY = 30;
/** The number of simultaneous calls of each order. */
const COPIES = 3;
const PAUSE_MS = 200;
export const GOODS_PREFIX = 'goods-';

export interface GoodsRun {
  /** The goods that each order was sent. More than one kind is an error. */
  readonly given: ReadonlyMap<string, ReadonlySet<string>>;
  /** The number of answers with goods. */
  readonly answers: number;
  readonly plannedFaults: number;
  readonly receivers: Receivers;
}

/** Calls for the goods of each order several times at once while processes die, until all orders have theirs. */
export async function runGoods(
  store: TestedStore,
  seed: number,
  { orders, faults, limitMs }: { orders: number; faults: number; limitMs: number },
): Promise<GoodsRun> {
  const plan = planFaults(
    new Random(seed),
    { faults, deliveries: orders },
    { stopsInTransaction: true, points: GOODS_POINTS },
  );
  const deadline = new Deadline(`The run of goods on ${store.name}`, limitMs);
  const receivers = new Receivers(store, plan, (start) => ({
    ...pausing(seed)(start),
    CHAOS_GOODS: '1',
  }));
  await receivers.start(PROCESSES);
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  const given = new Map<string, Set<string>>();
  let answers = 0;
  let turn = 0;

  /** Calls for the goods of an order, at one process after another, until one of them sends goods. */
  async function ask(id: string): Promise<void> {
    const body = JSON.stringify({ id, status: 100 });
    for (;;) {
      deadline.check(() => `${given.size} orders have their goods.`);
      const { targets } = receivers;
      const target = targets[turn++ % targets.length];
      const answer = target && (await post(target.port, { path: '/goods', body }, agent));
      if (answer?.status === 200) {
        answers += 1;
        given.get(id)?.add(answer.text);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  const lane = async () => {
    while (given.size < orders || receivers.faults < plan.length) {
      const id = `${GOODS_PREFIX}${given.size}`;
      given.set(id, new Set());
      await Promise.all(Array.from({ length: COPIES }, () => ask(id)));
      // A later call, to any process, has to get the same goods.
      await ask(id);
    }
  };
  try {
    await deadline.limit(Promise.all(Array.from({ length: CONCURRENCY }, lane)));
    return { given, answers, plannedFaults: plan.length, receivers };
  } finally {
    await receivers.close();
    agent.destroy();
  }
}
