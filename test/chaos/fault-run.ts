import { Deadline } from './deadline.js';
import { drain, redrive } from './drain.js';
import { HAND_OFF_POINTS, POINTS, type Point, planFaults } from './faults.js';
import { Load } from './load.js';
import { Random } from './random.js';
import { Receivers, sum } from './receivers.js';
import { Sender } from './sender.js';
import type { TestedStore } from './stores.js';

const PROCESSES = 4;
export const FAULTS_PREFIX = 'whl-';

export interface FaultRun {
  /** The ids of all sent deliveries, including those sent beyond the plan while faults were left. */
  readonly ids: readonly string[];
  /** The ids of deliveries that were answered with success in the end. */
  readonly answered: ReadonlySet<string>;
  readonly plannedFaults: number;
  readonly receivers: Receivers;
  readonly sender: Sender;
  /** The number of deliveries that were dead after too many crashes, and that the harness redrove. */
  readonly redriven: number;
  readonly ms: number;
}

export interface FaultRunSize {
  readonly deliveries: number;
  readonly faults: number;
  readonly limitMs: number;
}

/** The names of a run's deliveries, and its handlers. */
export interface LoadKind {
  readonly prefix: string;
  readonly handlers: string;
}

/** The same, and the points of its faults. */
export interface FaultRunKind extends LoadKind {
  readonly points: readonly Point[];
}

/** Delivers while processes die, until all deliveries are done and all faults have happened. */
export async function runFaults(
  store: TestedStore,
  seed: number,
  { deliveries, faults, limitMs }: FaultRunSize,
  {
    prefix = FAULTS_PREFIX,
    points = store.handsOff ? [...HAND_OFF_POINTS, ...POINTS] : POINTS,
    handlers = '',
  }: Partial<FaultRunKind> = {},
): Promise<FaultRun> {
  const startedAt = performance.now();
  const plan = planFaults(
    new Random(seed),
    { faults, deliveries },
    {
      stopsInTransaction: store.name !== 'sqlite',
      points,
    },
  );
  const receivers = new Receivers(store, plan, pausing(seed, handlers));
  await receivers.start(PROCESSES);
  const sender = new Sender(() => receivers.targets);
  const deadline = new Deadline(`The fault run on ${store.name}`, limitMs);
  const load = new Load(sender, {
    prefix,
    seed,
    deadline,
    pace(sent) {
      if (sent < deliveries) return deliveries - sent;
      // While planned faults are left, send further deliveries, one at a time.
      return receivers.faults < plan.length ? 1 : 0;
    },
    onTurn: () => progress(store.name, load, receivers.faults, plan.length),
  });
  try {
    await load.run();
    const redriven = store.handsOff
      ? await drain(store, () => receivers.any, load.ids, FAULTS_PREFIX)
      : await deadline.limit(redrive(receivers.any));
    return {
      ids: load.ids,
      answered: load.answered,
      plannedFaults: plan.length,
      receivers,
      sender,
      redriven,
      ms: performance.now() - startedAt,
    };
  } finally {
    load.giveUp();
    await receivers.close();
    sender.close();
  }
}

/** A process also dies between an effect and its record, so there is a pause between them. */
export function pausing(seed: number, handlers = ''): (start: number) => Record<string, string> {
  return (start) => ({
    CHAOS_PAUSES: `${seed * 1_000_003 + start}`,
    CHAOS_HANDLERS: handlers,
  });
}

let lastProgress = 0;

function progress(name: string, { ids, open }: Load, faults: number, planned: number): void {
  if (performance.now() - lastProgress < 10_000) return;
  lastProgress = performance.now();
  console.error(`  ${name}: ${ids.length} sent, ${open} open, ${faults} of ${planned} faults`);
}

/** A readable report of the run. */
export function describeRun({ ids, receivers, sender, redriven, ms }: FaultRun): string[] {
  return [
    `${ids.length} deliveries, ${sender.attempts} attempts in ${Math.round(ms / 1000)} s`,
    describeAnswers(sender),
    `${sum(receivers.kills)} kills: ${list(receivers.kills)}`,
    `${sum(receivers.stops)} stops: ${list(receivers.stops)}`,
    `${receivers.starts} processes started, ${redriven} dead deliveries re-driven`,
    describeErrors(receivers),
  ];
}

export function describeAnswers({ answers, outcomes, refusals }: Sender): string {
  return `answers: ${list(answers)}; of them 200: ${list(outcomes)}; 503: ${list(refusals) || 'none'}`;
}

export function describeErrors({ errors }: Receivers): string {
  return `errors of the receivers: ${list(errors) || 'none'}`;
}

function list(counts: ReadonlyMap<string | number, number>): string {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, n]) => `${name} ${n}`)
    .join(', ');
}
