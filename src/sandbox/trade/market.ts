import type { eventSchemas } from '../../schemas/events.js';
import type { JsonObject } from '../../schemas/json.js';
import type { Faults } from '../faults.js';
import type { Account } from '../state/account.js';
import type { KeptOrder, KeptProduct } from '../state/kinds.js';
import type { Unknowns } from '../unknowns.js';

/** The events of the specification. */
export type EventName = keyof typeof eventSchemas;

/** Something has happened that webhooks are sent about. */
export interface Told {
  readonly event: EventName;
  /** The record as it is now. */
  readonly payload: JsonObject;
  /** The `webhook_url` of the order's product or payment, beside the endpoints that have subscribed. */
  readonly urls: readonly string[];
}

/** Sends webhooks. */
export interface Outbox {
  /**
   * Called within the transaction of the change: logs that it writes are kept together with the change, or not
   * at all. What it sends, it sends from `account.afterwards()`.
   */
  tell(told: Told): void;
  /** Whether webhooks may be sent to a URL, as far as can be told by looking at it. */
  takes(url: string): boolean;
  /** Resolves when nothing is being sent. What waits for a time is not waited for. */
  idle(): Promise<void>;
}

/** Makes the goods of a dynamic product. */
export interface Supplier {
  /**
   * Called within the transaction in which the order was paid. Calls the product's `dynamic_url` from
   * `account.afterwards()`, and gives what comes back to `deliver()`.
   */
  supply(order: KeptOrder, product: KeptProduct): void;
}

/** Where an account sells: what every step of a trade needs. */
export interface Market {
  readonly account: Account;
  readonly unknowns: Unknowns;
  /** What goes wrong in this account. */
  readonly faults: Faults;
  readonly outbox: Outbox;
  readonly supplier: Supplier;
}
