import type { ChildProcess } from 'node:child_process';
import { type Environment, isStopped, kill, nextMessage, startChild } from './children.js';
import type { Fault } from './faults.js';
import type { FromReceiver } from './messages.js';
import { SECRET, type Target } from './sender.js';
import type { TestedStore } from './stores.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The clocks of the processes, in turn. */
export const CLOCKS_MS = [-DAY_MS, 0, DAY_MS];
const LOOK_MS = 100;

export function startReceiver(
  store: TestedStore,
  env: Environment = {},
  node = store.node,
): ChildProcess {
  return startChild(node, store.programs.receiver, {
    ...store.environment,
    CHAOS_SECRET: SECRET,
    ...env,
  });
}

export async function portOf(child: ChildProcess): Promise<number> {
  const message = await nextMessage<FromReceiver>(child, ({ kind }) => kind === 'listening');
  return message.kind === 'listening' ? message.port : 0;
}

/** Keeps a number of receivers alive, and gives each the next fault of the plan. */
export class Receivers {
  readonly #store: TestedStore;
  readonly #plan: Fault[];
  readonly #environmentOf: (start: number) => Environment;
  readonly #live = new Map<ChildProcess, Target>();
  readonly #all = new Set<ChildProcess>();
  #isOpen = true;
  #starts = 0;
  /** The faults that really happened, by point. */
  readonly kills = new Map<string, number>();
  readonly stops = new Map<string, number>();
  /** The processes that were hit. */
  readonly hit = new Set<number>();
  /** All processes that were started. */
  readonly pids = new Set<number>();
  /** The ids of claimed deliveries, if the receivers report them. */
  readonly claimed = new Set<string>();
  /** How often a receiver reported that it could not record a delivery's result within its lease, by delivery. */
  readonly unrecorded = new Map<string, number>();
  /** The reported errors, and how often each was reported. */
  readonly errors = new Map<string, number>();
  /** The number of processes that ended unplanned, because of an error in the harness or the library. */
  unplannedEnds = 0;

  /** @param environmentOf - Returns further environment variables for the nth process. */
  constructor(
    store: TestedStore,
    plan: readonly Fault[],
    environmentOf: (start: number) => Environment = () => ({}),
  ) {
    this.#store = store;
    this.#environmentOf = environmentOf;
    this.#plan = [...plan].reverse();
  }

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#keep()));
  }

  get targets(): readonly Target[] {
    return [...this.#live.values()];
  }

  get starts(): number {
    return this.#starts;
  }

  /** The number of reported errors with this code. */
  errorsOf(code: string): number {
    return sum(new Map([...this.errors].filter(([error]) => error.startsWith(`${code}: `))));
  }

  get faults(): number {
    return sum(this.kills) + sum(this.stops);
  }

  /** Any receiver that is alive. */
  get any(): ChildProcess | undefined {
    return [...this.#live.keys()].at(-1);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    const ends = [...this.#all].map(
      (child) => new Promise<void>((resolve) => child.once('exit', () => resolve())),
    );
    for (const child of this.#all) kill(child, 'SIGCONT');
    for (const child of this.#all) child.kill('SIGTERM');
    const late = setTimeout(() => this.#all.forEach((child) => void kill(child)), 15_000);
    await Promise.all(ends);
    clearTimeout(late);
  }

  /** Starts a receiver, and a replacement as soon as it has ended or was stopped. */
  async #keep(): Promise<void> {
    const fault = this.#plan.pop();
    const start = this.#starts++;
    const clock = CLOCKS_MS[start % CLOCKS_MS.length] ?? 0;
    const child = startReceiver(this.#store, {
      CHAOS_CLOCK_MS: `${clock}`,
      CHAOS_FAULT: JSON.stringify(fault && fault.point !== 'outside' ? fault : null),
      ...this.#environmentOf(start),
    });
    this.#all.add(child);
    this.pids.add(child.pid ?? 0);
    child.on('message', (message: FromReceiver) => {
      if (message.kind === 'granted') this.claimed.add(message.id);
      if (message.kind !== 'error') return;
      count(this.errors, message.error);
      if (message.id && message.error.startsWith('outcome_unrecorded: ')) {
        count(this.unrecorded, message.id);
      }
    });
    let isReplaced = false;
    const replace = () => {
      this.#live.delete(child);
      if (isReplaced || !this.#isOpen) return;
      isReplaced = true;
      void this.#keep().catch(() => {});
    };
    let isPlanned = false;
    child.once('exit', (_, signal) => {
      this.#all.delete(child);
      if (fault?.signal === 'SIGKILL' && signal === 'SIGKILL' && this.#isOpen) {
        count(this.kills, fault.point);
        this.hit.add(child.pid ?? 0);
      } else if (!isPlanned && this.#isOpen) this.unplannedEnds += 1;
      replace();
    });
    const port = await portOf(child).catch(() => undefined);
    if (port === undefined) return;
    this.#live.set(child, { port });
    if (fault?.point === 'outside') {
      setTimeout(() => {
        if (this.#isOpen) kill(child, fault.signal);
      }, fault.afterMs);
    }
    if (fault?.signal === 'SIGSTOP') {
      this.#watch(child, fault.frozenMs, () => {
        isPlanned = true;
        count(this.stops, fault.point);
        this.hit.add(child.pid ?? 0);
        replace();
      });
    }
  }

  /** Waits until it is stopped, leaves it stopped for longer than its leases, and lets it finish its work. */
  #watch(child: ChildProcess, frozenMs: number, onStopped: () => void): void {
    const looking = setInterval(() => {
      if (!this.#all.has(child) || !this.#isOpen) clearInterval(looking);
      if (!isStopped(child)) return;
      clearInterval(looking);
      onStopped();
      setTimeout(() => {
        kill(child, 'SIGCONT');
        setTimeout(() => child.kill('SIGTERM'), 1_000);
      }, frozenMs);
    }, LOOK_MS);
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, one) => all + one, 0);
}
