import { writeLine } from '../report/log.js';

/** The durable stores, as a message tells which to use: those of a server or a machine, and of platforms. */
export const DURABLE_STORES = {
  anywhere: 'sqliteStore(…), postgresStore(…) or redisStore(…)',
  /** Where instances share no disk. */
  hosted: 'postgresStore(…) or redisStore(…)',
  cloudflare: 'durableObjectStore(…) or d1Store(…) of storefront-webhooks/cloudflare',
} as const;

/** Of what a store is made, by a method that nothing else has. */
export const CLIENTS = [
  ['query', 'postgresStore(pool)'],
  ['unsafe', 'postgresStore(sql)'],
  ['evalsha', 'redisStore(client)'],
  ['evalSha', 'redisStore(client)'],
  ['prepare', 'sqliteStore(database)'],
] as const;

type Platform = keyof typeof DURABLE_STORES;

let platform: Platform | undefined;

/** Told by an adapter that is for one platform only. */
export function runsOn(known: Platform): void {
  platform = known;
}

/** What is set where instances start and stop, and no disk outlives them. */
const HOSTS = ['VERCEL', 'NETLIFY', 'AWS_LAMBDA_FUNCTION_NAME', 'CF_PAGES'];

function findPlatform(): Platform {
  const environment = globalThis.process?.env ?? {};
  const isHosted = 'EdgeRuntime' in globalThis || HOSTS.some((name) => environment[name]);
  return isHosted ? 'hosted' : 'anywhere';
}

let hasWarned = false;

/** Says once per process what the default store cannot promise. */
export function warnOfMemory(): void {
  if (hasWarned) return;
  hasWarned = true;
  const where = platform ?? findPlatform();
  const problem =
    where === 'anywhere'
      ? 'deliveries are remembered in the memory of this process only'
      : 'this platform starts and stops instances, and each remembers its own deliveries only';
  writeLine(
    `${problem}, so one can be handled twice. Pass ${DURABLE_STORES[where]} as \`store\`, ` +
      'or memoryStore() to say that this is meant.',
  );
}
