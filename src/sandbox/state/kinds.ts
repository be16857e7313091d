import type { StoredFile } from '../../schemas/file.js';
import type { JsonObject } from '../../schemas/json.js';
import type { GATEWAYS } from '../../schemas/product.js';
import type { Identified } from './records.js';

// What is kept of each kind. Amounts are decimal text, times are ISO 8601 text.

/** What every record of the service has (specification: Resources and their fields). */
interface Dated extends Identified {
  readonly created_at: string;
  readonly updated_at: string;
}

/** A product of either variant: of each field, what both variants can be answered from. */
export interface KeptProduct extends Dated {
  readonly title: string;
  readonly description: string;
  readonly price: string;
  readonly currency: string;
  readonly product_type: 'file' | 'serials' | 'dynamic' | 'service';
  readonly gateways: readonly string[];
  readonly image: StoredFile | null;
  /** Of the type serials: those that nobody has been given yet. */
  readonly info: string | null;
  readonly file: StoredFile | null;
  readonly stock_delimiter: string;
  readonly maximum_quantity: number | null;
  readonly minimum_quantity: number;
  /** How many are left; it goes down with each order. */
  readonly stock_amount: number | null;
  readonly dynamic_url: string | null;
  readonly custom: readonly JsonObject[];
  readonly customer_details_required: boolean;
  readonly warranty: string | null;
  readonly warranty_duration: number | null;
  readonly redirect_url: string | null;
  readonly unlisted: boolean;
  readonly private: boolean;
  readonly hide_stock: boolean | null;
  readonly vpn_block: boolean;
  readonly seller_note: string | null;
  readonly max_risk_level: number;
  readonly crypto_confirmations: number;
  readonly webhook_url: string | null;
}

export interface KeptCategory extends Dated {
  readonly title: string;
  readonly product_ids: readonly string[];
  readonly unlisted: boolean;
  readonly image: StoredFile | null;
}

/** The order as the service shows it (specification: Order), and as the payload of its events. */
export interface ShownOrder extends Dated {
  /** Of a payment, {@link PAYMENT_PRODUCT_ID}. */
  readonly product_id: string;
  readonly product_title: string;
  readonly email: string;
  readonly ip_address: string;
  readonly country_code: string;
  readonly user_agent: string;
  readonly value: string;
  readonly usd_value: string;
  readonly exchange_rate: string;
  readonly currency: string;
  /** Its display name. */
  readonly gateway: string;
  readonly quantity: number;
  readonly risk_level: number;
  readonly status: OrderCode;
  readonly delivered: string | null;
  readonly referral: string | null;
  readonly crypto_address: string | null;
  readonly crypto_value: number | null;
  readonly crypto_received: number;
  readonly crypto_confirmations: number;
  readonly crypto_channel: string | null;
  readonly coupon_id: string | null;
  readonly custom: JsonObject;
}

/** The states of an order (specification: Order status). */
export type OrderCode = 0 | 51 | 52 | 53 | 54 | 55 | 56 | 100;

/** The fixed `product_id` of an order that a payment has made (specification: Payment result). */
export const PAYMENT_PRODUCT_ID = 'payment';

export interface KeptOrder extends Identified {
  readonly shown: ShownOrder;
  /** The gateway by its name in the API. */
  readonly gateway: (typeof GATEWAYS)[number];
  /** What was paid so far, in the order's currency. */
  readonly received: string;
  /** How many confirmations a payment in a cryptocurrency needs. */
  readonly confirmations_needed: number;
  /** The serials that are kept for it until it is paid. */
  readonly held: readonly string[];
  /** How many of a `stock_amount` it has taken. */
  readonly taken: number;
  /** Nobody can pay it any more. */
  readonly is_closed: boolean;
}

/** What is known of a payment beside its order, which has the same id. */
export interface KeptPayment extends Identified {
  readonly white_label: boolean;
  /** Where the customer goes back to; `null` in the white-label flow. */
  readonly return_url: string | null;
  /** Receives order status webhooks. */
  readonly webhook_url: string | null;
}

export interface KeptBlacklistEntry extends Dated {
  /** 1 email, 2 IP address, 3 country code. */
  readonly blacklist_type: number;
  readonly blocked_data: string;
  readonly note: string | null;
}

export interface KeptWebhookEndpoint extends Dated {
  readonly url: string;
  readonly enabled: boolean;
  readonly events: readonly string[];
}

/** A webhook log (specification: Webhook log), and what sending it again needs. */
export interface KeptWebhookLog extends Dated {
  readonly url: string;
  readonly payload: JsonObject;
  readonly event: string;
  readonly response: string | null;
  /** 0 until there is a response. */
  readonly response_code: number;
  readonly response_headers: Readonly<Record<string, string>> | null;
  readonly retries: number;
  readonly retry_limit: number;
  readonly next_retry_at: string | null;
  /** The webhook endpoint that it is for; `null` where it goes to the URL of a product or a payment. */
  readonly endpoint_id: string | null;
}

/** A question of a customer's, and what was replied. */
export interface KeptQuery extends Dated {
  readonly email: string;
  readonly title: string;
  readonly status: 'open' | 'replied';
  readonly messages: readonly QueryMessage[];
}

export interface QueryMessage {
  readonly from: 'customer' | 'seller';
  readonly text: string;
  readonly created_at: string;
}

/** What a customer says of an order. */
export interface KeptFeedback extends Dated {
  readonly order_id: string;
  readonly product_id: string;
  /** From 1 to 5. */
  readonly rating: number;
  readonly message: string;
  readonly reply: string | null;
}

/** What the seller has set in the account, which the API of the specification does not reach. */
export interface Settings extends Identified {
  readonly id: 'settings';
  /** The gateways that have their account information, such as a payout address. */
  readonly gateways: readonly string[];
  /** Signs the account's webhooks. */
  readonly webhook_secret: string;
  /** Whether its key may only read: anything else is answered 403. */
  readonly read_only: boolean;
  /** What the clock was moved to, and when that was outside; in milliseconds since 1970. */
  readonly clock: { readonly time: number; readonly outside: number } | null;
}
