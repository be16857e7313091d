import type { JsonObject } from '../../schemas/values.js';
import type { KeptFeedback, KeptProduct, KeptQuery } from '../state/kinds.js';
import type { Unknowns } from '../unknowns.js';
import { stockOf } from './stock.js';

// Records as the service shows them, in its answers and in the payloads of webhooks.

const TYPE_CODES = { file: 1, serials: 2, dynamic: 3, service: 4 };

/** Returns a product in the shape of its variant (specification: Product). */
export function showProduct(product: KeptProduct, unknowns: Unknowns): JsonObject {
  const { variant, olderCustom } = unknowns;
  const stock = stockOf(product);
  if (variant === 'newer') {
    const { crypto_confirmations, webhook_url, ...shown } = product;
    return { ...shown, stock, theme: 'default' };
  }
  const {
    customer_details_required,
    warranty,
    warranty_duration,
    redirect_url,
    hide_stock,
    ...shown
  } = product;
  return {
    ...shown,
    stock,
    product_type: TYPE_CODES[product.product_type],
    custom: olderCustom === 'empty' ? {} : null,
    theme: 1,
    paypal_email_delivery: false,
  };
}

/** Returns a customer's query. The specification does not show its shape. */
export function showQuery(query: KeptQuery, { customerRecords }: Unknowns): JsonObject {
  const { messages, ...rest } = query;
  if (customerRecords === 'thread') return { ...rest, messages };
  return { ...rest, message: messages.at(-1)?.text ?? '' };
}

/** Returns a customer's feedback. The specification does not show its shape. */
export function showFeedback(feedback: KeptFeedback, { customerRecords }: Unknowns): JsonObject {
  const { message, reply, ...rest } = feedback;
  if (customerRecords === 'flat') return { ...rest, message, reply };
  return { ...rest, messages: [message, ...(reply === null ? [] : [reply])] };
}
