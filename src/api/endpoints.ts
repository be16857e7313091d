import { blacklistEntrySchema } from '../schemas/blacklist-entry.js';
import { categorySchema } from '../schemas/category.js';
import { orderSchema } from '../schemas/order.js';
import { paymentSchema } from '../schemas/payment.js';
import { newerProductSchema, olderProductSchema } from '../schemas/product.js';
import { webhookEndpointSchema } from '../schemas/webhook-endpoint.js';
import { webhookLogSchema } from '../schemas/webhook-log.js';
import { both, create, type Endpoint, get, list, remove, update } from './endpoint.js';
import {
  blacklistEntryChanges,
  categoryChanges,
  newBlacklistEntry,
  newCategory,
  newPayment,
  newProduct,
  newWebhookEndpoint,
  productChanges,
  webhookEndpointChanges,
} from './parameters.js';

const product = { newer: newerProductSchema, older: olderProductSchema };
const category = both(categorySchema);
const order = both(orderSchema);
const blacklistEntry = both(blacklistEntrySchema);
const webhookEndpoint = both(webhookEndpointSchema);
const webhookLog = both(webhookLogSchema);

/**
 * Every endpoint of the specification. The client has a method of the same name for each row. The sandbox's
 * routes and the OpenAPI document are made from the same rows.
 */
export const endpoints = {
  products: {
    /** Lists the products of the account, page by page. */
    list: list('/api/v2/products', product, 'Products'),
    /** Returns one product. */
    get: get('/api/v2/products/:id', product, 'Products'),
    /** Creates a product. */
    create: create('/api/v2/products', newProduct, product, 'Products'),
    /** Changes the given fields of a product. */
    update: update('/api/v2/products/:id', productChanges, product, 'Products'),
    /** Deletes a product permanently. */
    delete: remove('/api/v2/products/:id', 'Products'),
  },
  categories: {
    /** Lists the categories that group products, page by page. */
    list: list('/api/v2/categories', category, 'Categories'),
    /** Returns one category. */
    get: get('/api/v2/categories/:id', category, 'Categories'),
    /** Creates a category. */
    create: create('/api/v2/categories', both(newCategory), category, 'Categories'),
    /** Changes the given fields of a category. */
    update: update('/api/v2/categories/:id', both(categoryChanges), category, 'Categories'),
    /** Deletes a category permanently. */
    delete: remove('/api/v2/categories/:id', 'Categories'),
  },
  orders: {
    /** Lists the orders of the account, page by page. */
    list: list('/api/v2/orders', order, 'Orders'),
    /** Returns one order. */
    get: get('/api/v2/orders/:id', order, 'Orders'),
  },
  blacklist: {
    /** Lists the blocked emails, IP addresses and countries, page by page. */
    list: list('/api/v2/blacklist', blacklistEntry, 'Blacklist'),
    /** Returns one blacklist entry. */
    get: get('/api/v2/blacklist/:id', blacklistEntry, 'Blacklist'),
    /** Creates a blacklist entry. */
    create: create('/api/v2/blacklist', both(newBlacklistEntry), blacklistEntry, 'Blacklist'),
    /** Changes the given fields of a blacklist entry. */
    update: update(
      '/api/v2/blacklist/:id',
      both(blacklistEntryChanges),
      blacklistEntry,
      'Blacklist',
    ),
    /** Deletes a blacklist entry. */
    delete: remove('/api/v2/blacklist/:id', 'Blacklist'),
  },
  webhookEndpoints: {
    /** Lists the addresses that webhooks are sent to, page by page. */
    list: list('/api/v2/webhooks/endpoints', webhookEndpoint, 'Webhook endpoints'),
    /** Returns one webhook endpoint. */
    get: get('/api/v2/webhooks/endpoints/:id', webhookEndpoint, 'Webhook endpoints'),
    /** Creates a webhook endpoint. */
    create: create(
      '/api/v2/webhooks/endpoints',
      both(newWebhookEndpoint),
      webhookEndpoint,
      'Webhook endpoints',
    ),
    /** Changes the given fields of a webhook endpoint. */
    update: update(
      '/api/v2/webhooks/endpoints/:id',
      both(webhookEndpointChanges),
      webhookEndpoint,
      'Webhook endpoints',
    ),
    /** Deletes a webhook endpoint. */
    delete: remove('/api/v2/webhooks/endpoints/:id', 'Webhook endpoints'),
  },
  webhookLogs: {
    /** Lists the webhooks that were sent, each with its answer, page by page. */
    list: list('/api/v2/webhooks/logs', webhookLog, 'Webhook logs'),
    /** Returns one webhook log. */
    get: get('/api/v2/webhooks/logs/:id', webhookLog, 'Webhook logs'),
  },
  payments: {
    /**
     * Creates a payment. Returns its `url` on the provider's page or, with `white_label: true`, a record like
     * an order.
     */
    create: create('/api/v2/pay', both(newPayment), both(paymentSchema), 'Payments'),
    /** Deletes a payment. */
    delete: remove('/api/v2/pay/:id', 'Payments'),
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

const groups: Readonly<Record<string, Readonly<Record<string, Endpoint>>>> = endpoints;

/** Every row with its name, such as `products.list`. */
export const operations: readonly (readonly [operation: string, row: Endpoint])[] = Object.entries(
  groups,
).flatMap(([group, rows]) =>
  Object.entries(rows).map(([name, row]) => [`${group}.${name}`, row] as const),
);
