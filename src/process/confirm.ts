import type { Issue } from '../schemas/issue.js';
import type { JsonObject } from '../schemas/json.js';
import type { OrderStatus } from '../schemas/order.js';

/** An order as a delivery states it, before its handlers run. */
export interface StatedOrder {
  /** As its handlers get it. Its `id` is a text. */
  readonly payload: JsonObject & { readonly id: string };
  /** Not signed. */
  readonly event: string;
  /** Which shop. */
  readonly scope: string;
  /** The receiver's `paidStatuses`. */
  readonly paidStatuses: readonly OrderStatus[];
}

/**
 * What was found.
 *
 * - `agreed`: the handlers run. `kept`: nobody was asked for it, because somebody was a moment ago.
 * - `disagreed`: the delivery is treated as one that does not fit its event. `issues` name the fields, and no values.
 * - `unavailable`: nobody could be asked. The delivery is answered 503 and comes again, unless `accepts` says
 *   that its handlers run all the same.
 */
export type Confirmation =
  | { readonly state: 'agreed'; readonly kept: boolean }
  | { readonly state: 'disagreed'; readonly issues: readonly Issue[] }
  | { readonly state: 'unavailable'; readonly cause: unknown; readonly accepts: boolean };

/**
 * Looks an order up before its handlers run. {@link createReceiver} asks it of every `order:` event that has a handler
 * left to run, under the lease of the delivery, and waits 7 s for it. One that rejects is `unavailable`. Made by
 * `confirmOrders()` of `storefront-webhooks/api`; where a `secret` function serves several shops, by one for each.
 *
 * @example
 * const confirms = new Map<string, Confirm>([['eu', confirmOrders(client)]]);
 * const confirm: Confirm = async (order) => {
 *   const confirmOf = confirms.get(order.scope);
 *   if (!confirmOf) throw new Error(`no client for ${order.scope}`);
 *   return confirmOf(order);
 * };
 */
export type Confirm = (order: StatedOrder) => Promise<Confirmation>;

/** By what confirmations are counted. */
export type ConfirmationResult = 'agreed' | 'disagreed' | 'unavailable' | 'kept';
