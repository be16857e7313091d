import { UsageError } from '../../errors.js';
import { hasMethods } from '../methods.js';
import { endingSilence, holdingBack } from './silence.js';

/** What is used of one connection of ioredis, to end it where it is silent. */
export interface IoRedisConnection {
  readonly status: string;
  ping(): Promise<unknown>;
  disconnect(reconnect: boolean): void;
}

/** What is used of ioredis: a `Redis` or a `Cluster`. */
export interface IoRedisClient extends IoRedisConnection {
  /** Those of a `Cluster`. */
  nodes?(): IoRedisConnection[];
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(sha: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What is used of node-redis: what `createClient`, `createClientPool` or `createCluster` gives. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** What is used of `@upstash/redis`. */
export interface UpstashClient {
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
  evalsha(sha: string, keys: string[], args: string[]): Promise<unknown>;
}

/**
 * A client of your own, connected: of ioredis (`Redis`, `Cluster`), of node-redis (`createClient`,
 * `createClientPool`, `createCluster`), or of `@upstash/redis`. It is known by its methods, so this
 * package depends on none of them.
 */
export type RedisClient = IoRedisClient | NodeRedisClient | UpstashClient;

/** A script, by its text or by its hash, run by any client. */
export interface ScriptCalls {
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
  evalSha(sha: string, keys: string[], args: string[]): Promise<unknown>;
}

/** @throws {UsageError} `client_invalid` */
export function scriptCallsOf(client: RedisClient): ScriptCalls {
  if (hasMethods(client, 'eval')) {
    if (isNodeRedis(client)) {
      const calls: ScriptCalls = {
        eval: (script, keys, args) => client.eval(script, { keys, arguments: args }),
        evalSha: (sha, keys, args) => client.evalSha(sha, { keys, arguments: args }),
      };
      // A pool gives no second call to a connection that has not answered the first.
      return isPool(client) ? calls : holdingBack(client, calls);
    }
    if (isIoRedis(client)) {
      return endingSilence(client, {
        eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
        evalSha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
      });
    }
    if (isUpstash(client)) {
      return {
        eval: (script, keys, args) => client.eval(script, keys, args),
        evalSha: (sha, keys, args) => client.evalsha(sha, keys, args),
      };
    }
  }
  throw new UsageError(
    'client_invalid',
    'redisStore needs a client of ioredis (new Redis(url)), of node-redis (await ' +
      'createClient({ url }).connect()), or of @upstash/redis (Redis.fromEnv()).',
  );
}

export function isNodeRedis(client: RedisClient): client is NodeRedisClient {
  return hasMethods(client, 'sendCommand', 'evalSha') && !hasMethods(client, 'defineCommand');
}

export function isIoRedis(client: RedisClient): client is IoRedisClient {
  return hasMethods(client, 'defineCommand', 'evalsha');
}

export function isCluster(client: RedisClient): boolean {
  return hasMethods(client, 'nodes') || hasMethods(client, 'nodeClient');
}

/** What `createClientPool` gives. */
export function isPool(client: NodeRedisClient): boolean {
  return typeof Reflect.get(client, 'totalClients') === 'number';
}

function isUpstash(client: RedisClient): client is UpstashClient {
  return hasMethods(client, 'evalsha') && !hasMethods(client, 'sendCommand');
}
