import type { eventSchemas } from '../../schemas/events.js';
import type { JsonObject } from '../../schemas/values.js';
import type { Faults } from '../faults.js';
import type { Account } from '../state/account.js';
import type { KeptOrder, KeptProduct } from '../state/kinds.js';
import type { Unknowns } from '../unknowns.js';

/** The events of the specification. */
export type EventName = keyof typeof eventSchemas;

/** A change that webhooks are sent about. */
export interface Change {
  readonly event: EventName;
  /** The record as it is now. */
  readonly payload: JsonObject;
  /** The `webhook_url` of the order's product and payment, in addition to the subscribed endpoints. */
  readonly urls: readonly string[];
}

/** Sends webhooks. */
export interface Outbox {
  /**
   * Writes the webhook logs of a change within its transaction, so that both are stored or neither. Sends the
   * webhooks from `account.afterwards()`.
   */
  announce(change: Change): void;
  /** Returns whether webhooks may be sent to a URL, judging by the URL alone. */
  takes(url: string): boolean;
  /** Resolves when no webhook is being sent. Does not wait for scheduled work. */
  idle(): Promise<void>;
}

/** Makes the goods of a dynamic product. */
export interface Supplier {
  /**
   * Calls the product's `dynamic_url` from `account.afterwards()`, and passes the answer to `deliver()`. Runs
   * within the transaction in which the order was paid.
   */
  supply(order: KeptOrder, product: KeptProduct): void;
}

/** An account with everything that the steps of a trade need. */
export interface Market {
  readonly account: Account;
  readonly unknowns: Unknowns;
  /** The faults of this account. */
  readonly faults: Faults;
  readonly outbox: Outbox;
  readonly supplier: Supplier;
}
