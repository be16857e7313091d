import { writeLine } from '../report/log.js';

/** The stores that remember what a receiver has done, by where it runs. */
export const STORES = {
  server: 'sqliteStore(…), postgresStore(…) or redisStore(…)',
  /** Instances start and stop, and no disk outlives them. */
  instances: 'postgresStore(…) or redisStore(…)',
  workers: 'durableObjectStore(…) or d1Store(…) of storefront-webhooks/cloudflare',
} as const;

/** Of what a store is made, by a method that nothing else has. */
export const CLIENTS = [
  ['query', 'postgresStore(pool)'],
  ['unsafe', 'postgresStore(sql)'],
  ['evalsha', 'redisStore(client)'],
  ['evalSha', 'redisStore(client)'],
  ['prepare', 'sqliteStore(database)'],
] as const;

let platform: keyof typeof STORES | undefined;

/** Told by an adapter that is for one platform only. */
export function runsOn(known: keyof typeof STORES): void {
  platform = known;
}

const HOSTS = ['VERCEL', 'NETLIFY', 'AWS_LAMBDA_FUNCTION_NAME', 'CF_PAGES'];

function isHosted(): boolean {
  const environment = globalThis.process?.env ?? {};
  return 'EdgeRuntime' in globalThis || HOSTS.some((name) => environment[name]);
}

let hasWarned = false;

/** Says once per process what the default store cannot promise. */
export function warnOfMemory(): void {
  if (hasWarned) return;
  hasWarned = true;
  const where = platform ?? (isHosted() ? 'instances' : 'server');
  const problem =
    where === 'server'
      ? 'deliveries are remembered in the memory of this process only'
      : 'this platform starts and stops instances, and each remembers its own deliveries only';
  writeLine(
    `${problem}, so one can be handled twice. Pass ${STORES[where]} as \`store\`, ` +
      'or memoryStore() to say that this is meant.',
    'operate.md#memory-store',
  );
}
