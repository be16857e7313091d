import type { TestedQueue } from 'storefront-webhooks/testing';

export {
  enqueue,
  newDelivery,
  newReceiver,
  ofAnyShop,
  redrive,
  SECRET,
} from '../../src/testing/queue/deliveries.js';

/** A queue of a test's own, and the store of the same engine. */
export interface Engine extends TestedQueue {
  readonly name: string;
  readonly store: NonNullable<TestedQueue['store']>;
}

export interface EngineOptions {
  /** How often a job is tried, in quick succession. */
  readonly attempts: number;
  /** After how long a job is taken from a worker, where the engine has it so. */
  readonly expireInSeconds?: number;
}

export const LONG_MS = 30_000;
/** A machine may stall for a while. */
export const soon = { timeout: 20_000, interval: 20 };
