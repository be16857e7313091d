import type { StoredFile } from '../../schemas/file.js';
import type { GATEWAYS } from '../../schemas/product.js';
import type { JsonObject } from '../../schemas/values.js';
import type { Identified } from './records.js';

// The stored form of each kind of record. Amounts are decimal text, times are ISO 8601 text.

/** The fields of every record of the service (specification: Resources and their fields). */
interface Dated extends Identified {
  readonly created_at: string;
  readonly updated_at: string;
}

/** A product. Its fields have what the answers of both variants need. */
export interface KeptProduct extends Dated {
  readonly title: string;
  readonly description: string;
  readonly price: string;
  readonly currency: string;
  readonly product_type: 'file' | 'serials' | 'dynamic' | 'service';
  readonly gateways: readonly string[];
  readonly image: StoredFile | null;
  /** For the type serials: the serials in stock. */
  readonly info: string | null;
  readonly file: StoredFile | null;
  readonly stock_delimiter: string;
  readonly maximum_quantity: number | null;
  readonly minimum_quantity: number;
  /** The number left. Each order lowers it. */
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

/** An order in the service's answers and in the payloads of its events (specification: Order). */
export interface ShownOrder extends Dated {
  /** The id of the product. For a payment, {@link PAYMENT_PRODUCT_ID}. */
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
  /** The display name of the gateway. */
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

/** The status codes of an order (specification: Order status). */
export type OrderCode = 0 | 51 | 52 | 53 | 54 | 55 | 56 | 100;

/** The fixed `product_id` of a payment's order (specification: Payment result). */
export const PAYMENT_PRODUCT_ID = 'payment';

export interface KeptOrder extends Identified {
  readonly shown: ShownOrder;
  /** The gateway's name in the API. */
  readonly gateway: (typeof GATEWAYS)[number];
  /** The amount paid so far, in the order's currency. */
  readonly received: string;
  /** The number of confirmations that a cryptocurrency payment needs. */
  readonly confirmations_needed: number;
  /** The serials reserved for the order until it is paid. */
  readonly held: readonly string[];
  /** The number of items that the order has taken out of stock. */
  readonly taken: number;
  /** Whether the order can no longer be paid. */
  readonly is_closed: boolean;
}

/** The fields of a payment that its order does not have. Both have the same id. */
export interface KeptPayment extends Identified {
  readonly white_label: boolean;
  /** The address that the customer returns to; `null` in the white-label flow. */
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

/** A webhook log (specification: Webhook log), with what a retry needs. */
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
  /** The id of the webhook endpoint; `null` if the webhook goes to the URL of a product or a payment. */
  readonly endpoint_id: string | null;
}

/** A customer's question, with the messages that followed. */
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

/** A customer's feedback on an order. */
export interface KeptFeedback extends Dated {
  readonly order_id: string;
  readonly product_id: string;
  /** From 1 to 5. */
  readonly rating: number;
  readonly message: string;
  readonly reply: string | null;
}

/** The settings of an account. The API of the specification cannot change them. */
export interface Settings extends Identified {
  readonly id: 'settings';
  /** The gateways whose account information, such as a payout address, is configured. */
  readonly gateways: readonly string[];
  /** Signs the account's webhooks. */
  readonly webhook_secret: string;
  /** Whether the key may only read. The service answers any other request with 403. */
  readonly read_only: boolean;
  /** The time that the clock was last moved to, and the real time of that move, in milliseconds since 1970. */
  readonly clock: { readonly time: number; readonly outside: number } | null;
}
