import type { Call } from './linearizable.js';

/** What a receiver says of itself. */
export type FromReceiver =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'granted' | 'answered' | 'running'; readonly id: string; readonly at: number }
  | { readonly kind: 'redriven'; readonly count: number }
  /** With its code before it. */
  | { readonly kind: 'error'; readonly error: string };

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
