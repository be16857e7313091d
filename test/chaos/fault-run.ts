import { nextMessage } from './children.js';
import { Deadline } from './deadline.js';
import { planFaults } from './faults.js';
import type { FromReceiver, ToReceiver } from './messages.js';
import { Random } from './random.js';
import { Receivers, sum } from './receivers.js';
import { copiesOf, Sender } from './sender.js';
import type { TestedStore } from './stores.js';

const PROCESSES = 4;
/** Deliveries that are sent for the first time at once. */
const CONCURRENCY = 40;
/** Nothing new is sent while so many wait to be sent again. */
const MAX_STUCK = 250;
/** A lock of a worker that has died, and then the growing pauses of the queue. */
const DRAIN_MS = 120_000;

export interface FaultRun {
  /** All that were sent, those beyond the plan included. */
  readonly ids: readonly string[];
  /** Those that got a good answer in the end. */
  readonly answered: ReadonlySet<string>;
  readonly plannedFaults: number;
  readonly receivers: Receivers;
  readonly sender: Sender;
  /** Dead after too many crashes, and taken up again by a person. */
  readonly redriven: number;
  readonly ms: number;
}

export interface FaultRunSize {
  readonly deliveries: number;
  readonly faults: number;
  readonly limitMs: number;
}

/** Delivers while processes die, until all is delivered and all faults have happened. */
export async function runFaults(
  store: TestedStore,
  seed: number,
  { deliveries, faults, limitMs }: FaultRunSize,
): Promise<FaultRun> {
  const startedAt = performance.now();
  const plan = planFaults(
    new Random(seed),
    { faults, deliveries },
    {
      stopsInTransaction: store.name !== 'sqlite',
      handsOff: store.handsOff,
    },
  );
  const receivers = new Receivers(store, plan);
  await receivers.start(PROCESSES);
  const sender = new Sender(() => receivers.targets);
  const deadline = new Deadline(`The fault run on ${store.name}`, limitMs);
  const ids: string[] = [];
  const answered = new Set<string>();
  const stuck = new Set<string>();
  const open = new Set<string>();
  let isOver = false;
  let failure: unknown;

  const deliver = async (index: number) => {
    const id = `whl-${index}`;
    ids.push(id);
    open.add(id);
    const { atOnce, later } = copiesOf(seed, index);
    const one = () =>
      sender.deliver(
        id,
        () => isOver,
        () => stuck.add(id),
      );
    const copies = await Promise.all(Array.from({ length: atOnce }, one));
    if (later) copies.push(await one());
    if (copies.every(Boolean)) answered.add(id);
    stuck.delete(id);
    open.delete(id);
  };

  try {
    for (let index = 0; ; ) {
      const isComplete = index >= deliveries && receivers.faults >= plan.length;
      if (isComplete && open.size === 0) break;
      deadline.check(() => `${open.size} open, ${receivers.faults} of ${plan.length} faults.`);
      if (failure) throw failure;
      while (!isComplete && open.size - stuck.size < CONCURRENCY && stuck.size < MAX_STUCK) {
        deliver(index++).catch((error: unknown) => {
          failure = error;
        });
        // Beyond the plan, one by one.
        if (index > deliveries) break;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
      progress(store.name, ids.length, open.size, receivers.faults, plan.length);
    }
    const redriven = store.handsOff
      ? await drain(store, receivers, ids)
      : await deadline.limit(redrive(receivers));
    return {
      ids,
      answered,
      plannedFaults: plan.length,
      receivers,
      sender,
      redriven,
      ms: performance.now() - startedAt,
    };
  } finally {
    isOver = true;
    await receivers.close();
    sender.close();
  }
}

/**
 * What was answered comes out of the queue by itself, but for what is dead, which a person takes up. What
 * does not come out in time is counted as lost.
 */
async function drain(
  store: TestedStore,
  receivers: Receivers,
  ids: readonly string[],
): Promise<number> {
  let redriven = 0;
  const endAt = performance.now() + DRAIN_MS;
  while (performance.now() < endAt) {
    redriven += await redrive(receivers);
    const [row] = await store.query(
      `SELECT COUNT(DISTINCT r.delivery) AS n FROM handler_run r JOIN sale s ON s.delivery = r.delivery
       WHERE r.handler = 'plain'`,
    );
    if (Number(row?.n) >= ids.length) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return redriven;
}

/** As a person does with what is dead. */
async function redrive(receivers: Receivers): Promise<number> {
  const { any } = receivers;
  if (!any) throw new Error('No receiver is left.');
  any.send({ kind: 'redrive' } satisfies ToReceiver);
  const message = await nextMessage<FromReceiver>(any, ({ kind }) => kind === 'redriven');
  return message.kind === 'redriven' ? message.count : 0;
}

let lastProgress = 0;

function progress(name: string, sent: number, open: number, faults: number, planned: number): void {
  if (performance.now() - lastProgress < 10_000) return;
  lastProgress = performance.now();
  console.error(`  ${name}: ${sent} sent, ${open} open, ${faults} of ${planned} faults`);
}

/** What happened, for a person. */
export function describeRun({ ids, receivers, sender, redriven, ms }: FaultRun): string[] {
  const list = (counts: ReadonlyMap<string | number, number>) =>
    [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, n]) => `${name} ${n}`)
      .join(', ');
  return [
    `${ids.length} deliveries, ${sender.attempts} attempts in ${Math.round(ms / 1000)} s`,
    `answers: ${list(sender.answers)}; of them 200: ${list(sender.outcomes)}`,
    `${sum(receivers.kills)} kills: ${list(receivers.kills)}`,
    `${sum(receivers.stops)} stops: ${list(receivers.stops)}`,
    `${receivers.starts} processes started, ${redriven} dead deliveries re-driven`,
    `errors of the receivers: ${list(receivers.errors) || 'none'}`,
  ];
}
