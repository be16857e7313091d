/** Every endpoint in the tables of the specification, with the name of its operation in the client. */
export const ENDPOINTS = [
  ['GET', '/api/v2/products', 'products.list'],
  ['GET', '/api/v2/products/:id', 'products.get'],
  ['POST', '/api/v2/products', 'products.create'],
  ['PUT', '/api/v2/products/:id', 'products.update'],
  ['DELETE', '/api/v2/products/:id', 'products.delete'],
  ['GET', '/api/v2/categories', 'categories.list'],
  ['GET', '/api/v2/categories/:id', 'categories.get'],
  ['POST', '/api/v2/categories', 'categories.create'],
  ['PUT', '/api/v2/categories/:id', 'categories.update'],
  ['DELETE', '/api/v2/categories/:id', 'categories.delete'],
  ['GET', '/api/v2/orders', 'orders.list'],
  ['GET', '/api/v2/orders/:id', 'orders.get'],
  ['GET', '/api/v2/blacklist', 'blacklist.list'],
  ['GET', '/api/v2/blacklist/:id', 'blacklist.get'],
  ['POST', '/api/v2/blacklist', 'blacklist.create'],
  ['PUT', '/api/v2/blacklist/:id', 'blacklist.update'],
  ['DELETE', '/api/v2/blacklist/:id', 'blacklist.delete'],
  ['GET', '/api/v2/webhooks/endpoints', 'webhookEndpoints.list'],
  ['GET', '/api/v2/webhooks/endpoints/:id', 'webhookEndpoints.get'],
  ['POST', '/api/v2/webhooks/endpoints', 'webhookEndpoints.create'],
  ['PUT', '/api/v2/webhooks/endpoints/:id', 'webhookEndpoints.update'],
  ['DELETE', '/api/v2/webhooks/endpoints/:id', 'webhookEndpoints.delete'],
  ['GET', '/api/v2/webhooks/logs', 'webhookLogs.list'],
  ['GET', '/api/v2/webhooks/logs/:id', 'webhookLogs.get'],
  ['POST', '/api/v2/pay', 'payments.create'],
  ['DELETE', '/api/v2/pay/:id', 'payments.delete'],
] as const;

/** The endpoints that return a list. */
export const LISTS = ENDPOINTS.filter(([, , operation]) => operation.endsWith('.list'));
