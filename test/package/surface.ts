/** What each subpath gives at run time. */
export const names: Readonly<Record<string, string[]>> = {
  '.': [
    'Rejection',
    'UsageError',
    'WebhookError',
    'blacklistEntrySchema',
    'categorySchema',
    'createReceiver',
    'eventSchemas',
    'fileSchema',
    'hostedPaymentSchema',
    'isOlderProduct',
    'memoryStore',
    'newerProductSchema',
    'olderProductSchema',
    'orderSchema',
    'orderStatusLabel',
    'paymentSchema',
    'productSchema',
    'verifySignature',
    'webhookEndpointSchema',
    'webhookLogSchema',
    'whiteLabelPaymentSchema',
  ],
  './express': ['toExpress'],
  './fastify': ['toFastify'],
  './fetch': ['toFetch'],
  './hono': ['toHono'],
  './koa': ['toKoa'],
  './lambda': ['toLambda'],
  './next': ['toNext'],
  './next-pages': ['toNextPages'],
  './node': ['toNodeHandler'],
  './postgres': ['postgresLedger', 'postgresSchema', 'postgresStore'],
  './redis': ['redisStore'],
  './sqlite': ['sqliteLedger', 'sqliteSchema', 'sqliteStore'],
  './testing': ['loadFixture', 'replay', 'shippedFixtures', 'sign'],
  './workers': ['toWorker'],
};

const core = ['@noble/hashes', 'zod'];

const rawBody = [
  'bytes',
  'depd',
  'http-errors',
  'iconv-lite',
  'inherits',
  'raw-body',
  'safer-buffer',
  'setprototypeof',
  'statuses',
  'toidentifier',
  'unpipe',
];

/** The packages that are loaded with each subpath, with what they depend on. */
export const packages: Readonly<Record<string, string[]>> = {
  '.': core,
  './express': rawBody,
  './fastify': rawBody,
  './fetch': [],
  './hono': [],
  './koa': rawBody,
  './lambda': [],
  './next': [],
  './next-pages': rawBody,
  './node': rawBody,
  './postgres': [],
  './redis': [],
  './sqlite': [],
  './testing': core,
  './workers': [],
};

/** The types that each adapter names beside its function. */
export const types: Readonly<Record<string, string[]>> = {
  './express': ['NodeRequest', 'NodeResponse'],
  './fastify': [],
  './fetch': [],
  './hono': [],
  './koa': [],
  './lambda': ['LambdaEvent', 'LambdaResult'],
  './next': [],
  './next-pages': ['NodeRequest', 'NodeResponse'],
  './node': ['NodeRequest', 'NodeResponse'],
  './workers': ['WorkerContext'],
};
