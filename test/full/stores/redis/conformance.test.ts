import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe } from 'vitest';
import { type Connected, clients } from '../../../stores/redis/clients.js';
import { ageDelivery } from '../../../stores/redis/deliveries.js';
import { describeStore } from '../../../stores/suite.js';
import { type RedisServer, redisBinaries, startRedis, withRedis } from '../../../support/redis.js';
import { casesOf } from '../../../support/tier.js';

withRedis('on a real server', () => {
  describe.each(redisBinaries)('%s', (binary) => {
    let server: RedisServer;
    let admin: Redis;
    beforeAll(async () => {
      server = await startRedis({ binary });
      admin = new Redis(server.url);
    });
    afterAll(async () => {
      admin.disconnect();
      await server.remove();
    });

    describe.each(
      casesOf(Object.entries(clients), ([name]) => ['ioredis', 'node-redis'].includes(name)),
    )('%s', (name, connect) => {
      let connected: Connected;
      beforeAll(async () => {
        // Another client may have loaded the scripts.
        await admin.script('FLUSH');
        connected = await connect(server);
      });
      afterAll(() => connected.close());

      const make = async () => {
        await admin.flushdb();
        return connected.store;
      };
      const age = async (key: string) => {
        // A client may put a prefix before it.
        const [delivery = ''] = await admin.keys(`*:${key}`);
        await ageDelivery(admin, delivery, key);
      };
      describeStore(`Redis (${name})`, make, { expires: true, age });
    });
  });
});
