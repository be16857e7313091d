import type { TestedQueue } from 'storefront-webhooks/testing';

export {
  enqueue,
  newDelivery,
  newReceiver,
  ofAnyShop,
  redrive,
  SECRET,
} from '../../src/testing/queue/deliveries.js';

/** A test's own queue, and a store on the same engine. */
export interface Engine extends TestedQueue {
  readonly name: string;
  readonly store: NonNullable<TestedQueue['store']>;
}

export interface EngineOptions {
  /** The number of attempts of a job, in quick succession. */
  readonly attempts: number;
  /** The time after which a job is taken from its worker, if the engine has one. */
  readonly expireInSeconds?: number;
}

export const LONG_MS = 30_000;
/** A machine may stall for a while. */
export const soon = { interval: 20 };
