import { writeLine } from '../report/log.js';

/** The durable stores, as a message tells which to use: those of a server or a machine, and of platforms. */
export const DURABLE_STORES = {
  anywhere: 'sqliteStore(…), postgresStore(…) or redisStore(…)',
  /** Where instances share no disk. */
  hosted: 'postgresStore(…) or redisStore(…)',
  cloudflare: 'durableObjectStore(…) or d1Store(…)',
} as const;

/** Of what a store is made, by a method that nothing else has. */
export const CLIENTS = [
  ['query', 'postgresStore(pool)'],
  ['unsafe', 'postgresStore(sql)'],
  ['evalsha', 'redisStore(client)'],
  ['evalSha', 'redisStore(client)'],
  ['prepare', 'sqliteStore(database)'],
] as const;

let hasWarned = false;

/**
 * Says once per process what the default store cannot promise.
 *
 * @param durableStores - What the platform offers instead, where it starts and stops instances as it likes.
 */
export function warnOfMemory(durableStores?: string): void {
  if (hasWarned) return;
  hasWarned = true;
  const [problem, store] = durableStores
    ? [
        'this platform starts and stops instances, and each remembers its own deliveries only',
        durableStores,
      ]
    : ['deliveries are remembered in the memory of this process only', DURABLE_STORES.anywhere];
  writeLine(
    `${problem}, so one can be handled twice. Pass ${store} as \`store\`, ` +
      'or memoryStore() to say that this is meant.',
  );
}
