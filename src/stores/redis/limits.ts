import { type Limits, optionOf } from '../size-limits.js';
import { isCluster, isIoRedis, isNodeRedis, isPool, type RedisClient } from './client.js';

const IOREDIS =
  'new Redis({ maxRetriesPerRequest: 1, connectTimeout: 5000, socketTimeout: 5000, retryStrategy: (times) => ' +
  'Math.min(times * 100, 1000) }).';
const IOREDIS_CLUSTER =
  'new Cluster(nodes, { redisOptions: { connectTimeout: 5000, socketTimeout: 5000 } }).';
// With a socketTimeout alone, node-redis closes an idle connection for good.
const NODE_REDIS =
  'pingInterval: 1000, socket: { socketTimeout: 5000, reconnectStrategy: (retries) => ' +
  'Math.min(retries * 50, 2000) }';
const UPSTASH = 'Redis.fromEnv({ signal: () => AbortSignal.timeout(5000) }).';

/** Returns the time limits of a client. */
export function limitsOf(client: RedisClient): Limits | undefined {
  if (isNodeRedis(client)) {
    if (isPool(client))
      return { line: `createClientPool({ url, ${NODE_REDIS} }).`, missing: undefined };
    if (!isCluster(client)) {
      return { line: `createClient({ url, ${NODE_REDIS} }).`, missing: missingOf(client) };
    }
    const line = `createCluster({ rootNodes, defaults: { ${NODE_REDIS} } }).`;
    return { line, missing: missingOf(optionOf(client, 'masters', '0', 'client')) };
  }
  if (isIoRedis(client)) {
    const [line, options] = isCluster(client)
      ? [IOREDIS_CLUSTER, optionOf(client, 'options', 'redisOptions')]
      : [IOREDIS, optionOf(client, 'options')];
    return { line, missing: optionOf(options, 'socketTimeout') ? [] : ['socketTimeout'] };
  }
  const isLimited = typeof optionOf(client, 'client', 'options', 'signal') === 'function';
  return { line: UPSTASH, missing: isLimited ? [] : ['signal'] };
}

/** Returns the options that a client of node-redis lacks; `undefined` if its options are not visible. */
function missingOf(client: unknown): string[] | undefined {
  const options = optionOf(client, 'options');
  if (typeof options !== 'object') return undefined;
  return [
    ...(optionOf(options, 'pingInterval') ? [] : ['pingInterval']),
    ...(optionOf(options, 'socket', 'socketTimeout') ? [] : ['socket.socketTimeout']),
    // The default strategy does not reconnect after the socketTimeout.
    ...(optionOf(options, 'socket', 'reconnectStrategy') !== undefined
      ? []
      : ['socket.reconnectStrategy']),
  ];
}
