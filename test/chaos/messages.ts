import type { Call } from './linearizable.js';

/** A receiver's report about itself. */
export type FromReceiver =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'granted' | 'answered' | 'running'; readonly id: string; readonly at: number }
  | { readonly kind: 'redriven'; readonly count: number }
  | { readonly kind: 'loaded'; readonly loaded: Loaded }
  /** The text of an error, which begins with its code. `id` is the delivery of the error. */
  | { readonly kind: 'error'; readonly error: string; readonly id?: string | undefined };

/** The state of a receiver under load. */
export interface Loaded {
  /** Orders whose handler has run, and orders for which it ran twice. */
  readonly handled: number;
  readonly twice: number;
  readonly mostRss: number;
  /** The longest time that its event loop was blocked. */
  readonly stillMs: number;
  /** The number of errors, by their codes. */
  readonly errors: Readonly<Record<string, number>>;
}

/** The task of a sender of many orders. */
export type StormTask = {
  /** The ports of its receivers, which take turns. */
  readonly ports: readonly number[];
  readonly secret: string;
  /** The beginning of the orders' ids. */
  readonly prefix: string;
  /** The number of attempts after which an order is given up. */
  readonly attempts: number;
  /** How long a sender waits for an answer, in milliseconds. Default: 10,000. */
  readonly patienceMs?: number;
  /** Whether the signatures are wrong. */
  readonly isForged?: boolean;
} & (
  | { readonly how: 'burst'; readonly orders: number }
  | { readonly how: 'closed'; readonly inFlight: number; readonly forMs: number }
  | { readonly how: 'paced'; readonly perSecond: number; readonly forMs: number }
);

/** The results of its orders. */
export interface Stormed {
  sent: number;
  answered: number;
  givenUp: number;
  attempts: number;
  /** Answers by status. */
  statuses: Record<number, number>;
  /** Attempts without an answer in time, and attempts that were cut off. */
  late: number;
  cut: number;
  /** When each order was answered 200, in milliseconds. */
  answeredAt: number[];
  overMs: number;
}

export type ToReceiver = { readonly kind: 'redrive' };

/** One direct call of the store. */
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
      /** Default: the fence of the claim before this step. If that claim failed, the step is skipped. */
      readonly fence?: number;
      readonly leaseMs?: number;
    };

/** Threads run in parallel, the steps of each one after another. */
export interface ClaimsQuestion {
  readonly id: number;
  readonly threads: readonly (readonly Step[])[];
}

export interface ClaimsAnswer {
  readonly id: number;
  readonly calls: readonly Call[];
  readonly error?: string;
}

/** The task of a process that measures or counts, passed in its environment. */
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
