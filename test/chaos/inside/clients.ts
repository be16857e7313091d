/** As in docs/stores.md: a silent connection is dropped. Without limits, the client waits for it. */
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

/** A hand-off waits for a connection for as long as the receiver permits. */
export const ENQUEUING_LIMITS = {
  maxRetriesPerRequest: null,
  ...(hasLimits && { socketTimeout: SILENT_MS, retryStrategy }),
};

/** A worker asks for jobs with calls that take up to 10 s if the queue is empty. */
export const WORKING_LIMITS = {
  maxRetriesPerRequest: null,
  ...(hasLimits && { socketTimeout: 12_000, retryStrategy }),
};
