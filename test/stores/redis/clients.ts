import { Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import type { IdempotencyStore } from 'storefront-webhooks';
import { redisStore } from 'storefront-webhooks/redis';
import type { RedisServer } from '../../support/redis.js';
import { startBridge } from './upstash-bridge.js';

/** A store on a client of one kind. */
export interface Connected {
  readonly store: IdempotencyStore;
  close(): Promise<void>;
}

/** Each supported client, connected to a real server. */
export const clients: Record<string, (server: RedisServer) => Promise<Connected>> = {
  ioredis: async ({ url }) => {
    const client = quiet(new Redis(url));
    return { store: redisStore(client), close: async () => client.disconnect() };
  },
  'ioredis with stringNumbers and a prefix': async ({ url }) => {
    const client = quiet(new Redis(url, { stringNumbers: true, keyPrefix: 'shop:' }));
    return { store: redisStore(client), close: async () => client.disconnect() };
  },
  'node-redis': async ({ url }) => {
    const client = await quiet(createClient({ url, RESP: 2 })).connect();
    return { store: redisStore(client), close: async () => client.destroy() };
  },
  'node-redis with RESP 3': async ({ url }) => {
    const client = await quiet(createClient({ url, RESP: 3 })).connect();
    return { store: redisStore(client), close: async () => client.destroy() };
  },
  upstash: async (server) => {
    const bridge = await startBridge(server.url);
    const client = new Upstash({ url: bridge.url, token: 'token', retry: false });
    return { store: redisStore(client), close: () => bridge.close() };
  },
};

/** Clients report each lost connection. The calls show its effect. */
export function quiet<Client extends { on(event: 'error', listener: () => void): unknown }>(
  client: Client,
): Client {
  client.on('error', () => {});
  return client;
}
