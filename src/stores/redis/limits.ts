import { type Limits, optionOf } from '../limits.js';
import { hasOneConnection, isCluster, isIoRedis, isNodeRedis, type RedisClient } from './client.js';

const IOREDIS =
  'new Redis({ maxRetriesPerRequest: 1, connectTimeout: 5000, socketTimeout: 5000 }).';
const IOREDIS_CLUSTER =
  'new Cluster(nodes, { redisOptions: { connectTimeout: 5000, socketTimeout: 5000 } }).';
// With a socketTimeout alone, node-redis ends for good what is idle for so long.
const NODE_REDIS =
  '{ url, pingInterval: 1000, socket: { socketTimeout: 5000, reconnectStrategy: (retries) => ' +
  'Math.min(retries * 50, 2000) } }';
const UPSTASH = 'Redis.fromEnv({ signal: () => AbortSignal.timeout(5000) }).';

/** The limits of a client. */
export function limitsOf(client: RedisClient): Limits | undefined {
  if (isNodeRedis(client)) {
    if (isCluster(client)) {
      return { line: `createCluster({ rootNodes, defaults: ${NODE_REDIS} }).`, missing: undefined };
    }
    if (!hasOneConnection(client)) {
      return { line: `createClientPool(${NODE_REDIS}).`, missing: undefined };
    }
    const options = optionOf(client, 'options');
    const missing = [
      ...(optionOf(options, 'pingInterval') ? [] : ['pingInterval']),
      ...(optionOf(options, 'socket', 'socketTimeout') ? [] : ['socket.socketTimeout']),
      ...(optionOf(options, 'socket', 'reconnectStrategy') !== undefined
        ? []
        : ['socket.reconnectStrategy']),
    ];
    return { line: `createClient(${NODE_REDIS}).`, missing };
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
