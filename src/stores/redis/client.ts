import { hasMethods } from '../platform.js';

/** The part of an ioredis connection that is used to end it if it is silent. */
export interface IoRedisConnection {
  readonly status: string;
  ping(): Promise<unknown>;
  disconnect(reconnect: boolean): void;
}

/** The part of an ioredis client, `Redis` or `Cluster`, that is used. */
export interface IoRedisClient extends IoRedisConnection {
  /** The nodes of a `Cluster`. */
  nodes?(): IoRedisConnection[];
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(sha: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The part of a node-redis client that is used, from `createClient`, `createClientPool` or `createCluster`. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** The part of an `@upstash/redis` client that is used. */
export interface UpstashClient {
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
  evalsha(sha: string, keys: string[], args: string[]): Promise<unknown>;
}

/**
 * Your own connected client of ioredis (`Redis`, `Cluster`), of node-redis (`createClient`, `createClientPool`,
 * `createCluster`), or of `@upstash/redis`. Recognized by its methods, so that this package depends on none of
 * them.
 */
export type RedisClient = IoRedisClient | NodeRedisClient | UpstashClient;

/** Runs scripts by their text or their hash, with any client. */
export interface ScriptCalls {
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
  evalSha(sha: string, keys: string[], args: string[]): Promise<unknown>;
  /** Called with the error of each call that failed. */
  failed?(error: unknown): void;
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

/** Returns whether a client is from `createClientPool`. */
export function isPool(client: NodeRedisClient): boolean {
  return typeof Reflect.get(client, 'totalClients') === 'number';
}

export function isUpstash(client: RedisClient): client is UpstashClient {
  return hasMethods(client, 'evalsha') && !hasMethods(client, 'sendCommand');
}
