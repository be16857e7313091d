import type { Outcome } from '../outcome.js';
import type { MissedReason } from './standing.js';

/**
 * What became of a delivery that was missed.
 *
 * - What the receiver says: `handled` and `duplicate` (it was done before), `ignored`, `parked`, `rejected`,
 *   `failed`, `busy`, `unavailable`.
 * - `listed`: not done yet, and not run without `apply`. `settled`: asked for again, it was not missed any more.
 * - `held`: left, because an earlier change of the same record could not be handled. `gone`: the log has it
 *   no more. `unsafe`: the log does not tell of this order, and a handler of `order:paid` has no `oncePer`.
 */
export type RecoveredOutcome =
  | Exclude<Outcome, 'queued'>
  | 'listed'
  | 'settled'
  | 'held'
  | 'gone'
  | 'unsafe';

/** A delivery that was missed, and what became of it. */
export interface Recovered {
  /** The id of the webhook log; of an order that no log tells of, the order's. */
  readonly id: string;
  readonly event: string;
  /** Why it counts as missed; `unlogged`: a paid order that the log does not tell of. */
  readonly reason: MissedReason | 'unlogged';
  /** The order, or whatever else it is about; `undefined` where its payload has no id. */
  readonly recordId: string | undefined;
  /** When the provider told of it first. */
  readonly toldAt: Date;
  readonly outcome: RecoveredOutcome;
  /** What the order is worth, as far as it says so: a decimal as text. */
  readonly value: string | undefined;
  readonly currency: string | undefined;
}
