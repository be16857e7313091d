/** As docs/stores.md has it: a connection that says nothing any more is given up. Without, it is waited for. */
const hasLimits = process.env.CHAOS_CLIENTS !== 'plain';
const SILENT_MS = 5_000;

export const POOL_LIMITS = hasLimits
  ? { query_timeout: SILENT_MS, connectionTimeoutMillis: SILENT_MS, keepAlive: true }
  : {};

/** The longest pause of ioredis is 5 s, half of a lease. */
const retryStrategy = (times: number) => Math.min(times * 100, 1_000);

export const REDIS_LIMITS = {
  maxRetriesPerRequest: 1,
  ...(hasLimits && { connectTimeout: SILENT_MS, socketTimeout: SILENT_MS, retryStrategy }),
};

/** What is handed over waits for a connection for as long as the receiver lets it. */
export const ENQUEUING_LIMITS = {
  maxRetriesPerRequest: null,
  ...(hasLimits && { socketTimeout: SILENT_MS, retryStrategy }),
};

/** A worker asks for work with calls that take up to 10 s where there is none. */
export const WORKING_LIMITS = {
  maxRetriesPerRequest: null,
  ...(hasLimits && { socketTimeout: 12_000, retryStrategy }),
};
