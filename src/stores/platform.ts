import { writeLine } from '../errors/log.js';

/** The durable stores by platform. */
export const STORES = {
  server: 'sqliteStore(…), postgresStore(…) or redisStore(…)',
  /** Platforms that start and stop instances, and keep no disk. */
  instances: 'postgresStore(…) or redisStore(…)',
  workers: 'durableObjectStore(…) or d1Store(…) of storefront-webhooks/cloudflare',
} as const;

/** The clients that stores are made from, each recognized by a method that only it has. */
export const CLIENTS = [
  ['query', 'postgresStore(pool)'],
  ['unsafe', 'postgresStore(sql)'],
  ['evalsha', 'redisStore(client)'],
  ['evalSha', 'redisStore(client)'],
  ['dump', 'd1Store(env.DB)'],
  ['prepare', 'sqliteStore(database)'],
] as const;

let platform: keyof typeof STORES | undefined;

/** Sets the platform. Called by an adapter that is for one platform only. */
export function runsOn(known: keyof typeof STORES): void {
  platform = known;
}

const HOSTS = ['VERCEL', 'NETLIFY', 'AWS_LAMBDA_FUNCTION_NAME', 'CF_PAGES'];

function isHosted(): boolean {
  const environment = globalThis.process?.env ?? {};
  return 'EdgeRuntime' in globalThis || HOSTS.some((name) => environment[name]);
}

let hasWarned = false;

/** Warns once per process of what the default store cannot guarantee. */
export function warnOfMemory(): void {
  if (hasWarned) return;
  hasWarned = true;
  const where = platform ?? (isHosted() ? 'instances' : 'server');
  const problem =
    where === 'server'
      ? 'deliveries are remembered in the memory of this process only'
      : 'each instance on this platform remembers its own deliveries only';
  writeLine(
    `${problem}, so one can be handled twice. Pass ${STORES[where]} as \`store\`, ` +
      'or memoryStore() if this is intended.',
    'operate.md#memory-store',
  );
}

/**
 * Explains why a key-value store cannot be used: it can read and then write, but not compare and set, so two
 * receivers that do so at once both win. Returns an empty text for other values.
 */
export function reasonToRefuse(store: unknown): string {
  if (isProxy(store)) return '. This is a stub or a service binding';
  if (store instanceof Map) return '';
  const [name] = KINDS.find(([, ...verbs]) => hasMethods(store, ...verbs)) ?? [];
  if (name === undefined) return '';
  const instead =
    name === WORKERS_KV ? STORES.workers : `${STORES.server}, on the same server if you like`;
  return (
    `. ${name} does not work: it cannot compare and set, so two receivers could handle one delivery. ` +
    `Use ${instead}`
  );
}

const WORKERS_KV = 'Workers KV';

/** Key-value stores, each recognized by methods that only it has. */
const KINDS = [
  [WORKERS_KV, 'get', 'put', 'list', 'getWithMetadata'],
  ['unstorage', 'getItem', 'setItem', 'hasItem', 'getKeys'],
  ['keyv', 'get', 'set', 'delete', 'clear', 'has'],
] as const;

/**
 * Returns whether a value is a stub of another Worker or object on Cloudflare. A stub seems to have every method.
 */
export function isProxy(store: unknown): boolean {
  return hasMethods(store, 'a method that nothing has');
}

/** Explains what is wrong with a value that was passed as a store. Returns an empty text for unknown values. */
export function whatStoreIs(store: unknown): string {
  const [, made] = CLIENTS.find(([verb]) => hasMethods(store, verb)) ?? [];
  if (made && !isProxy(store)) return `. This is a client. Make a store from it: ${made}`;
  if (typeof store === 'function') return ', and not a function: call it';
  return store instanceof Map ? ', and not a Map' : '';
}

/**
 * Returns whether a value has these methods, which identify the clients of drivers. Does not look at own keys,
 * because a client may be behind a Proxy.
 */
export function hasMethods<Value, Name extends string>(
  value: Value,
  ...names: Name[]
): value is Value & (unknown extends Value ? unknown : Extract<Value, Record<Name, unknown>>) {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isHolder && names.every((name) => typeof Reflect.get(value, name) === 'function');
}
