import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import postgres from 'postgres';
import { postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { newDelivery, terms } from '../../../stores/redis/deliveries.js';
import { startFaultyProxy } from '../../../support/faulty-proxy.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

const READ_ONLY = /read-only transaction/;

withPostgres('a primary that becomes read-only and keeps its connections', () => {
  let old: PostgresServer;
  let next: PostgresServer;
  beforeAll(async () => {
    [old, next] = await Promise.all([startPostgres(), startPostgres()]);
  });
  afterAll(async () => {
    await Promise.all([old, next].map((server) => server.remove()));
  });

  /** Makes the old server read-only or not, as its open connections see. */
  async function makeReadOnly(isReadOnly: boolean) {
    const admin = new pg.Client({ connectionString: old.url });
    await admin.connect();
    await admin.query('SET default_transaction_read_only = off');
    await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly}`);
    await admin.query('SELECT pg_reload_conf()');
    await admin.end();
  }

  const openPool = (url: string) => {
    const client = new pg.Pool({ connectionString: url, max: 3 }).on('error', () => {});
    return { client, close: () => client.end() };
  };
  const openSql = (url: string) => {
    const client = postgres(url, { max: 3, fetch_types: false, idle_timeout: 2 });
    return { client, close: () => client.end({ timeout: 1 }) };
  };

  describe.each([
    ['a pool of pg', openPool],
    ['postgres.js', openSql],
  ])('with %s', (_, open) => {
    test('is left for the new primary, as soon as the address leads there', async () => {
      await makeReadOnly(false);
      const proxy = await startFaultyProxy(old.port);
      onTestFinished(() => proxy.close());
      const { client, close } = open(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`);
      onTestFinished(close);
      const store = postgresStore(client);
      const claim = () => store.claim(newDelivery(), terms());
      await Promise.all(Array.from({ length: 20 }, claim));
      await makeReadOnly(true);
      // An open connection reads the setting between two statements.
      await vi.waitUntil(() => claim().then(() => false, READ_ONLY.test.bind(READ_ONLY)));
      // The address still leads to the old one.
      await pause(1_500);
      await expect(claim()).rejects.toThrow(READ_ONLY);
      proxy.leadTo(next.port);
      // As many as connections, and one that makes the tables on the new server.
      const claims = async () => {
        for (let sent = 0; sent < 4; sent++) await claim();
        return true;
      };
      await vi.waitUntil(() => claims().catch(() => false), { timeout: 10_000, interval: 100 });
    });
  });

  test('leaves each later statement of postgres.js its own rows', async () => {
    await makeReadOnly(false);
    const client = postgres(old.url, { max: 1, fetch_types: false });
    onTestFinished(() => client.end({ timeout: 1 }));
    const store = postgresStore(client);
    const claim = () => store.claim(newDelivery(), terms());
    await claim();
    const backend = async () => client<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    const [before] = await backend();
    await makeReadOnly(true);
    await vi.waitUntil(() => claim().then(() => false, READ_ONLY.test.bind(READ_ONLY)));
    // Those in flight fail with the connection.
    const after = await vi.waitUntil(() => backend().catch(() => false), { interval: 20 });
    expect(after).toEqual([{ pid: expect.any(Number) }]);
    expect(after).not.toEqual([before]);
  });
});
