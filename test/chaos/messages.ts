import type { Call } from './linearizable.js';

/** What a receiver says of itself. */
export type FromReceiver =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'granted' | 'answered' | 'running'; readonly id: string; readonly at: number }
  | { readonly kind: 'redriven'; readonly count: number }
  | { readonly kind: 'loaded'; readonly loaded: Loaded }
  /** With its code before it, and the delivery that it is about. */
  | { readonly kind: 'error'; readonly error: string; readonly id?: string | undefined };

/** How a receiver under load is. */
export interface Loaded {
  /** Orders whose handler has run, and those for which it ran twice. */
  readonly handled: number;
  readonly twice: number;
  readonly mostRss: number;
  /** For how long its event loop stood still, at most. */
  readonly stillMs: number;
  /** By their codes. */
  readonly errors: Readonly<Record<string, number>>;
}

/** What a sender of many orders is asked. */
export type StormTask = {
  /** Of its receivers, which take turns. */
  readonly ports: readonly number[];
  readonly secret: string;
  /** What the ids of the orders begin with. */
  readonly prefix: string;
  /** How often each is sent until it is given up. */
  readonly attempts: number;
} & (
  | { readonly how: 'burst'; readonly orders: number }
  | { readonly how: 'closed'; readonly inFlight: number; readonly forMs: number }
  | { readonly how: 'paced'; readonly perSecond: number; readonly forMs: number }
);

/** What became of its orders. */
export interface Stormed {
  sent: number;
  answered: number;
  givenUp: number;
  attempts: number;
  /** Answers by their status. */
  statuses: Record<number, number>;
  /** Attempts without an answer in time, and those that were cut. */
  late: number;
  cut: number;
  /** When each order was answered 200, in milliseconds. */
  answeredAt: number[];
  overMs: number;
}

export type ToReceiver = { readonly kind: 'redrive' };

/** One thing that a process does to the store directly. */
export type Step =
  | { readonly verb: 'claim'; readonly key: string; readonly leaseMs: number }
  /** Claims until it gets the lease. */
  | {
      readonly verb: 'take';
      readonly key: string;
      readonly leaseMs: number;
      readonly everyMs: number;
    }
  | { readonly verb: 'pause'; readonly ms: number }
  | {
      readonly verb: Exclude<Call['verb'], 'claim'>;
      readonly key: string;
      /** Default: that of the claim before it; without one, the step is left out. */
      readonly fence?: number;
      readonly leaseMs?: number;
    };

/** Threads are run side by side, the steps of one after the other. */
export interface ClaimsQuestion {
  readonly id: number;
  readonly threads: readonly (readonly Step[])[];
}

export interface ClaimsAnswer {
  readonly id: number;
  readonly calls: readonly Call[];
  readonly error?: string;
}

/** What a process that measures or counts is asked, by its environment. */
export type Task =
  | { readonly task: 'sql'; readonly statements: readonly string[] }
  | { readonly task: 'rates' | 'batching'; readonly slices: number; readonly sliceMs: number }
  | {
      readonly task: 'purging';
      readonly slices: number;
      readonly sliceMs: number;
      readonly backlog: number;
    }
  | { readonly task: 'sizes'; readonly rows: number };
