import { createServer } from 'node:http';
import { createReceiver, type IdempotencyStore } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sign } from 'storefront-webhooks/testing';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openNodeRedis, openStore } from '../../../src/cli/dead/open-store.js';
import { run, serve } from '../../cli/command.js';
import { paidOrder, SECRET } from '../../support/deliver.js';
import { startPostgres, withPostgres } from '../../support/postgres.js';
import { startRedis, withRedis } from '../../support/redis.js';

const env = { WEBHOOK_SECRET: SECRET };

/** Leaves paid orders in a store whose handler has failed. */
async function leaveDead(store: IdempotencyStore, ids: readonly string[]): Promise<void> {
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onError() {} } });
  receiver.on('order:paid', ({ payload }) => {
    throw new Error(`no stock for ${payload.id}`);
  });
  for (const id of ids) {
    const body = new TextEncoder().encode(JSON.stringify(paidOrder({ id })));
    const headers = {
      'x-service-event': 'order:paid',
      'x-service-webhook': `whl_${id}`,
      'x-service-signature': sign(body, SECRET),
    };
    const verified = await receiver.verify({ method: 'POST', headers, body });
    if (verified.outcome === 'rejected') throw new Error(verified.message);
    await receiver.dispatch(verified, { lastAttempt: true });
  }
}

/** Serves a shop on a store, whose handler delivers. */
async function openShop(store: IdempotencyStore) {
  const delivered: string[] = [];
  const receiver = createReceiver({ secret: SECRET, store }).on('order:paid', ({ payload }) => {
    delivered.push(payload.id);
  });
  const { url, server } = await serve(createServer(toNodeHandler(receiver)));
  onTestFinished(() => receiver.close({ server }));
  return { url, delivered };
}

function contract(makeUrl: () => string) {
  test('lists, counts, shows and redrives, and the shop runs the deliveries', async () => {
    const url = makeUrl();
    const { store, close } = await openStore(url);
    await leaveDead(store, ['ord_1', 'ord_2', 'ord_3']);
    const listed = (await run(['dead', 'list', url])).records();
    expect(listed.map(({ orderId }) => orderId).sort()).toEqual(['ord_1', 'ord_2', 'ord_3']);
    expect(JSON.stringify(listed)).not.toContain('buyer@example.com');
    const some = await run(['dead', 'list', url, '--where', 'error~ord_2']);
    expect(some.records()).toMatchObject([{ orderId: 'ord_2', event: 'order:paid' }]);
    // The password is not on the command line, where other users would see it.
    const hidden = await run(['dead', 'count', 'SHOP_STORE'], { env: { SHOP_STORE: url } });
    expect(hidden.records()).toEqual([{ dead: 3, stalled: 0, failing: 0 }]);
    const shown = await run(['dead', 'show', url, 'ord_3']);
    expect([shown.status, shown.records()]).toMatchObject([
      0,
      [{ body: expect.stringContaining('buyer@example.com') }],
    ]);

    const tried = await run(['dead', 'redrive', url]);
    expect(tried.records().map(({ action }) => action)).toEqual(Array(3).fill('would be put back'));
    expect(tried.stderr).toContain('Nothing was done: add --apply.');
    expect(await store.count({ state: 'dead' })).toBe(3);

    const shop = await openShop(store);
    const which = ['--where', 'order=ord_2', '--apply', '--to', shop.url];
    const done = await run(['dead', 'redrive', url, ...which], { env });
    expect([done.status, shop.delivered]).toEqual([0, ['ord_2']]);
    expect(done.records()).toMatchObject([{ status: 200, outcome: 'handled' }]);
    expect(await store.count({ state: 'dead' })).toBe(2);

    const { key } = listed.find(({ orderId }) => orderId === 'ord_2') ?? {};
    const ofDone = await run(['dead', 'show', url, String(key)]);
    expect([ofDone.status, ofDone.stderr]).toEqual([1, expect.stringContaining('was handled.')]);
    const unknown = await run(['dead', 'show', url, 'ord_9']);
    expect(unknown.stderr).toContain('it was handled, it never arrived, or it was put back');

    const back = await run(['dead', 'redrive', url, '--apply']);
    expect(back.records().map(({ action }) => action)).toEqual(['put back', 'put back']);
    expect([await store.count({ state: 'dead' }), shop.delivered]).toEqual([0, ['ord_2']]);
    await close();
  });

  test('a drill leaves a store in use alone', async () => {
    const { store, close } = await openStore(makeUrl());
    await leaveDead(store, ['ord_1']);
    const { status, stdout, stderr } = await run(['drill', '--store', makeUrl()]);
    expect(stderr).toContain('Give --store an empty database of its own.');
    expect([status, stdout, await store.count({ state: 'dead' })]).toEqual([2, '', 1]);
    await close();
  });
}

withPostgres('storefront-webhooks dead, over PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
  beforeEach(async () => {
    server = await startPostgres();
    const { default: pg } = await import('pg');
    const { postgresSchema } = await import('storefront-webhooks/postgres');
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query(postgresSchema());
    await client.end();
  });
  afterEach(() => server?.remove());
  contract(() => server?.url ?? '');

  test('makes no store of another database', async () => {
    const { default: pg } = await import('pg');
    const client = new pg.Client(server?.url);
    await client.connect();
    const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
    await client.query('DROP TABLE webhook_delivery, webhook_effect');
    const { status, stderr } = await run(['dead', 'list', server?.url ?? '']);
    expect(stderr).toContain('No receiver has used this database as its store');
    expect(status).toBe(2);
    expect((await client.query(tables)).rows).toEqual([]);
    await client.end();
  });
});

withRedis('storefront-webhooks dead, over Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>> | undefined;
  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(() => server?.remove());
  contract(() => server?.url ?? '');

  test('notes that no receiver has used the database, or another keyPrefix', async () => {
    const { url = '' } = server ?? {};
    const { store, close } = await openStore(`${url}/1?keyPrefix=shop:`);
    await leaveDead(store, ['ord_1']);
    await close();
    const unused = /^No receiver has used this Redis database .* \?keyPrefix=…\n/;
    for (const other of [url, `${url}/1`]) {
      const { status, stderr } = await run(['dead', 'list', other]);
      expect([status, stderr.replaceAll(/\n(?!$)/g, ' ')]).toEqual([
        0,
        expect.stringMatching(unused),
      ]);
    }
    const found = await run(['dead', 'list', `${url}/1?keyPrefix=shop:`]);
    expect([found.records(), found.stderr]).toMatchObject([[{ orderId: 'ord_1' }], '']);
  });

  test('writes nothing into a database that no receiver has used', async () => {
    const { url = '' } = server ?? {};
    const { store, close } = await openStore(`${url}/1`);
    await leaveDead(store, ['ord_1']);
    await close();
    const [{ key } = {}] = (await run(['dead', 'list', `${url}/1`])).records();
    for (const args of [
      ['list', url],
      ['count', url],
      ['show', url, String(key)],
      ['redrive', url, '--apply'],
      ['list', url],
    ]) {
      const { stderr } = await run(['dead', ...args]);
      expect(stderr, args[0]).toContain('No receiver has used this Redis database');
    }
    const { Redis } = await import('ioredis');
    const client = new Redis(url);
    expect(await client.dbsize()).toBe(0);
    await client.quit();
  });

  test('notes it with node-redis, too', async () => {
    const { default: redis } = await import('redis');
    const { store, isUsed, unused, close } = await openNodeRedis(redis, server?.url ?? '');
    expect([await isUsed(), unused]).toEqual([false, expect.stringMatching(/ at its end\.$/)]);
    await leaveDead(store, ['ord_1']);
    expect(await isUsed()).toBe(true);
    await close();
  });
});
