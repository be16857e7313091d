import type { Outcome } from '../request/outcome.js';
import type { MissedReason } from './delivery-status.js';

/**
 * The outcome of a missed delivery.
 *
 * - The receiver's outcomes: `handled`, `duplicate` (it was done before), `ignored`, `parked`, `rejected`,
 *   `failed`, `busy`, `unavailable`.
 * - `earlier`: left, because it is from before the first answer that this receiver and its store know of.
 *   Something else has delivered it, or may have.
 * - `listed`: not done yet, and not run, because `apply` is not set. `settled`: on a second look, it was no
 *   longer missed, or its order was refunded or charged back, or after that paid again.
 * - `held`: left, because an earlier change of the same record could not be handled. `gone`: the log no
 *   longer has it.
 * - `unsafe`: left, because a handler of its event has no `oncePer` and could deliver twice: the log does not
 *   mention the order, the receiver answered the delivery with other content, or it has handled a copy of the
 *   delivery under another id.
 */
export type RecoveredOutcome =
  | Exclude<Outcome, 'queued'>
  | 'earlier'
  | 'listed'
  | 'settled'
  | 'held'
  | 'gone'
  | 'unsafe';

/** A missed delivery, and what happened to it. */
export interface Recovered {
  /** The id of the webhook log; for an order that the log does not mention, the order's id. */
  readonly id: string;
  readonly event: string;
  /** Why it counts as missed. `unlogged`: a paid order that the log does not mention. */
  readonly reason: MissedReason | 'unlogged';
  /** The id of the order or other record that it is about; `undefined` if its payload has no id. */
  readonly recordId: string | undefined;
  /** When the provider first sent it; for an order that the log does not mention, when it was ordered. */
  readonly sentAt: Date;
  readonly outcome: RecoveredOutcome;
  /** The value of the order, a decimal as text; `undefined` if it has none. */
  readonly value: string | undefined;
  readonly currency: string | undefined;
}
