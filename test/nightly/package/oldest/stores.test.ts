import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { redisStore } from 'storefront-webhooks/redis';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { testStore } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFolder, removeFolders } from '../../../package/folder.js';
import { requireOlder } from '../../../package/older.js';
import { OLDEST, oldest, specsOf, UNUSABLE } from '../../../package/oldest.js';
import { AGE, EMPTY, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { ageDelivery } from '../../../stores/redis/deliveries.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

const runner = { describe, test };

afterAll(removeFolders);

describe('on SQLite', () => {
  let Database: typeof import('libsql');
  beforeAll(async () => {
    Database = (await requireOlder(specsOf(oldest('libsql'))))('libsql');
  });

  let database: InstanceType<typeof Database>;
  const open = () => {
    database = new Database(join(makeFolder(), 'webhooks.db'));
    return sqliteStore(database);
  };
  const age = () =>
    void database.exec('UPDATE webhook_delivery SET not_before = not_before - 120000');
  testStore(`libsql ${OLDEST.libsql}`, { open, age }, runner);

  test('libsql 0.3 is rejected when it is given', async () => {
    const Older: typeof Database = (await requireOlder(['libsql@0.3.19']))('libsql');
    expect(() => sqliteStore(new Older(':memory:'))).toThrow(/needs libsql 0\.4 or later/);
  });
});

withPostgres('on PostgreSQL', () => {
  let server: PostgresServer;
  let admin: pg.Pool;
  let olderPool: pg.Pool;
  let sql: import('postgres').Sql;
  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Pool({ connectionString: server.url });
    await admin.query(postgresSchema());
    const require = await requireOlder(specsOf(oldest('pg', 'postgres')));
    const older: typeof pg = require('pg');
    olderPool = new older.Pool({ connectionString: server.url });
    const postgres: typeof import('postgres') = require('postgres');
    sql = postgres(server.url);
  }, STARTING_MS);
  afterAll(async () => {
    await Promise.all([admin.end(), olderPool.end(), sql.end()]);
    await server.remove();
  });

  const age = () => admin.query(AGE);
  testStore(
    `pg ${OLDEST.pg}`,
    { open: async () => admin.query(EMPTY).then(() => postgresStore(olderPool)), age },
    runner,
  );
  testStore(
    `postgres ${OLDEST.postgres}`,
    { open: async () => admin.query(EMPTY).then(() => postgresStore(sql)), age },
    runner,
  );
});

withRedis('on Redis', () => {
  let server: RedisServer;
  let admin: Redis;
  let ioredis: Redis;
  let nodeRedis: ReturnType<typeof import('redis').createClient>;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
    const require = await requireOlder(specsOf(oldest('ioredis', 'redis')));
    const OlderRedis: typeof Redis = require('ioredis');
    ioredis = new OlderRedis(server.url);
    const { createClient }: typeof import('redis') = require('redis');
    nodeRedis = createClient({ url: server.url });
    nodeRedis.on('error', () => {});
    await nodeRedis.connect();
  });
  afterAll(async () => {
    admin.disconnect();
    ioredis.disconnect();
    await nodeRedis.disconnect();
    await server.remove();
  });

  const terms = {
    expires: true,
    age: async (key: string) => {
      const [delivery = ''] = await admin.keys(`*:${key}`);
      await ageDelivery(admin, delivery, key);
    },
  };
  testStore(
    `ioredis ${OLDEST.ioredis}`,
    { open: async () => admin.flushdb().then(() => redisStore(ioredis)), ...terms },
    runner,
  );
  testStore(
    `redis ${OLDEST.redis}`,
    { open: async () => admin.flushdb().then(() => redisStore(nodeRedis)), ...terms },
    runner,
  );

  test(`redis ${UNUSABLE.redis} is rejected when it is given`, async () => {
    const { createClient } = (await requireOlder([`redis@${UNUSABLE.redis}`]))('redis');
    const client = createClient(server.url);
    client.on('error', () => {});
    expect(() => redisStore(client)).toThrow(
      /redisStore\(\) needs node-redis 4 or later, and this is node-redis 3 or earlier/,
    );
    client.end(false);
  });
});
