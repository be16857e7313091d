/** Whether clients have the limits of docs/stores.md, and so drop silent connections instead of waiting. */
const hasLimits = process.env.CHAOS_CLIENTS !== 'plain';
const SILENT_MS = 5_000;

export const POOL_LIMITS = hasLimits
  ? { query_timeout: SILENT_MS, connectionTimeoutMillis: SILENT_MS, keepAlive: true }
  : {};

/** Limits the pauses between reconnections to 1 s, so that a client works again before a lease expires. */
const retryStrategy = (times: number) => Math.min(times * 100, 1_000);

/** Leaves a server that has become a replica, as docs/queues.md advises. */
const reconnectOnError = (error: Error) => /\b(READONLY|UNBLOCKED)\b/.test(error.message);

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
  ...(hasLimits && { socketTimeout: 12_000, retryStrategy, reconnectOnError }),
};
