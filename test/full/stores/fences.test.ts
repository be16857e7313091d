import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { built, everyFenceCounts, negated } from '../../stores/fence-predicates.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../support/postgres.js';
import { type RedisServer, startRedis, withRedis } from '../../support/redis.js';

withPostgres('every fence predicate of the PostgreSQL store', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  const file = 'src/stores/postgres/lease-statements.ts';
  everyFenceCounts(
    {
      file,
      pattern: /(?<=AND )(d\.)?fence = (\$2::text::bigint|\w+\.fence)/g,
      gone: (predicate) => `(${predicate} OR true)`,
    },
    async (source) => {
      const entry = 'src/stores/postgres/index.ts';
      const { postgresStore } = await built<typeof import('../../../src/stores/postgres/index.js')>(
        entry,
        file,
        source,
      );
      const pool = new pg.Pool({ connectionString: server.url, max: 2 });
      return { store: postgresStore(pool), close: () => pool.end() };
    },
  );
});

withRedis('every fence predicate of the Redis store', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  const file = 'src/stores/redis/scripts.ts';
  everyFenceCounts(
    { file, pattern: /tonumber\(.*?\) (~=|==) fence/g, gone: negated },
    async (source) => {
      const entry = 'src/stores/redis/index.ts';
      const { redisStore } = await built<typeof import('../../../src/stores/redis/index.js')>(
        entry,
        file,
        source,
      );
      const client = new Redis(server.url);
      return { store: redisStore(client), close: () => client.disconnect() };
    },
  );
});
