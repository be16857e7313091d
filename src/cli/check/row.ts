import type { Trial } from './trial.js';

/** How many goods an order may be handed, at least and at most. */
export type Goods = readonly [atLeast: number, atMost: number];

export const ONCE: Goods = [1, 1];
export const NEVER: Goods = [0, 0];
export const AT_MOST_ONCE: Goods = [0, 1];

/** One thing that happens to an endpoint, and what has to come of it. */
export interface Row {
  /** As `--only` takes it. */
  readonly name: string;
  /** What is sent, in a few words. */
  readonly title: string;
  /** What each of its orders may be handed. */
  readonly goods: Goods;
  /** Whether good answers alone tell nothing, so that the goods have to be counted. */
  readonly needsCount?: boolean;
  /** `beside`: it hands out nothing, and takes long. `alone`: it comes last, and nothing else is sent meanwhile, because the endpoint may go down. */
  readonly when?: 'beside' | 'alone';
  /** Whether it takes `--restart`. */
  readonly needsRestart?: boolean;
  /** What to change where it fails: with this package, or in general. Without it, the answer says so. */
  readonly change?: string;
  /** Sends it; what is wrong with the answers is told to the trial. */
  run(trial: Trial): Promise<void>;
}

/** What is wrong, and what a customer suffers of it. */
export interface Complaint {
  readonly cause: string;
  readonly customer: string;
  /** What the answer alone says of it. */
  readonly change?: string | undefined;
}
