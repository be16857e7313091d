import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';
import type { IdempotencyStore } from 'storefront-webhooks';
import { postgresStore } from 'storefront-webhooks/postgres';
import { type RecoverOptions, recover } from 'storefront-webhooks/recovery';
import { redisStore } from 'storefront-webhooks/redis';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { drawDrill } from '../../../src/cli/drill/page.js';
import { playDrill } from '../../../src/cli/drill/story.js';
import { withWorker } from '../../stores/workerd/served.js';
import { startPostgres, withPostgres } from '../../support/postgres.js';
import { startRedis, withRedis } from '../../support/redis.js';

const timeout = 300_000;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function openSqlite(): IdempotencyStore {
  const folder = mkdtempSync(join(tmpdir(), 'drill-'));
  const database = new Database(join(folder, 'drill.db'));
  ends.push(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  return sqliteStore(database);
}

/** Recovers repeatedly, and is killed at one request after another. */
function killedAgainAndAgain() {
  const kills: number[] = [];
  const recoverBy = async (options: RecoverOptions) => {
    for (let killAt = 1; ; killAt++) {
      const killed = new AbortController();
      let count = 0;
      const client = counting(options.client, () => {
        count += 1;
        if (count >= killAt) {
          killed.abort(new Error('killed'));
          throw new Error('killed');
        }
      });
      try {
        return await recover({ ...options, client, signal: killed.signal });
      } catch (error) {
        if (!killed.signal.aborted) throw error;
        kills.push(killAt);
      }
    }
  };
  return { kills, recoverBy };
}

type Logs = RecoverOptions['client']['webhookLogs'];

/** Recovers from a log with edited payloads, so that each delivery has another key than its webhook. */
function underOtherKeys({ client, ...options }: RecoverOptions) {
  const logs = client.webhookLogs;
  const edit = (entry: Awaited<ReturnType<Logs['get']>>) => ({
    ...entry,
    payload: { ...entry.payload, updated_at: '2027-01-01T00:00:00Z' },
  });
  const get: Logs['get'] = async (...args) => edit(await logs.get(...args));
  const list: Logs['list'] = (...args) => {
    const listed = logs.list(...args);
    const edited = listed.then((page) => ({ ...page, items: page.items.map(edit) }));
    return Object.assign(edited, { [Symbol.asyncIterator]: () => listed[Symbol.asyncIterator]() });
  };
  // The receipts do not fit the edited payloads, so no answer counts as this receiver's.
  const earlier = true;
  return recover({
    ...options,
    earlier,
    client: { ...client, webhookLogs: { ...logs, get, list } },
  });
}

/** A client that reports each call before it is made. */
function counting(client: RecoverOptions['client'], tell: () => void): RecoverOptions['client'] {
  const groups = Object.entries(client).map(([name, group]) => [
    name,
    new Proxy(group, {
      get: (target, method) => {
        const call: unknown = Reflect.get(target, method);
        if (typeof call !== 'function') return call;
        return (...args: unknown[]) => {
          tell();
          return Reflect.apply(call, target, args);
        };
      },
    }),
  ]);
  return Object.fromEntries(groups);
}

type Drill = Awaited<ReturnType<typeof playDrill>>;

function expectEachOnce(drill: Drill, orders: number): void {
  expect(drill).toMatchObject({ paid: orders, once: orders, missing: 0, twice: 0 });
  expect(drill.reconciliation.findings).toEqual([]);
  expect(drill.recovery.complete).toBe(true);
  expect(drill.missingBefore).toBeGreaterThan(0);
}

/** With enough orders for every case, including a disabled endpoint. */
function expectAllOnce(drill: Drill, orders: number): void {
  expectEachOnce(drill, orders);
  expect(drill.recovery.endpoint).toBe('recreated');
  expect(drill.missingBefore).toBeGreaterThan(orders / 4);
  const reasons = new Set(drill.recovery.deliveries.map(({ reason }) => reason));
  expect([...reasons].sort()).toEqual(['foreign', 'unanswered', 'unlogged']);
  // These deliveries were handled, but all of their answers were lost.
  const done = drill.recovery.deliveries.filter(({ outcome }) => outcome === 'duplicate');
  expect(done.length).toBeGreaterThan(2);
}

describe('the drill', { timeout }, () => {
  test('delivers each order once on SQLite, as docs/drill.svg shows', async () => {
    const drill = await playDrill({ store: openSqlite(), orders: 412, seed: 1 });
    expectAllOnce(drill, 412);
    // To redraw it: UPDATE_DRILL=1.
    if (process.env.UPDATE_DRILL) writeFileSync('docs/drill.svg', drawDrill(drill));
    expect(drawDrill(drill)).toBe(readFileSync('docs/drill.svg', 'utf8'));
  });

  withPostgres('on PostgreSQL', () => {
    test('delivers each order once', async () => {
      const server = await startPostgres();
      ends.push(() => server.remove());
      const pool = new pg.Pool({ connectionString: server.url });
      ends.push(() => pool.end());
      expectAllOnce(await playDrill({ store: postgresStore(pool), orders: 300, seed: 2 }), 300);
    });
  });

  withRedis('on Redis', () => {
    test('delivers each order once', async () => {
      const server = await startRedis();
      ends.push(() => server.remove());
      const client = new Redis(server.url);
      ends.push(() => client.disconnect());
      expectAllOnce(await playDrill({ store: redisStore(client), orders: 300, seed: 3 }), 300);
    });
  });

  withWorker('on Cloudflare', (worker) => {
    test.each(['d1', 'durable-object'] as const)('delivers each order once: %s', async (store) => {
      const opened = worker().store({ store });
      // Few orders, because each call of the store is a request to another process, one after another.
      expectEachOnce(await playDrill({ store: opened, orders: 60, seed: 5 }), 60);
    });
  });

  test('delivers each order once if its recovery is killed at every request', async () => {
    const { kills, recoverBy } = killedAgainAndAgain();
    const drill = await playDrill({ store: openSqlite(), orders: 240, seed: 4, recoverBy });
    expect(drill).toMatchObject({ paid: 240, once: 240, missing: 0, twice: 0 });
    expect(drill.reconciliation.findings).toEqual([]);
    // Recovery makes many requests, and was killed at each of them.
    expect(kills.length).toBeGreaterThan(20);
  });

  test('detects handlers that ran twice, even if the goods were sent once', async () => {
    const recoverBy = underOtherKeys;
    const drill = await playDrill({ store: openSqlite(), orders: 240, seed: 5, recoverBy });
    expect(drill.twice).toBeGreaterThan(2);
    expect(drill).toMatchObject({ paid: 240, once: 240 - drill.twice, missing: 0 });
    expect(drill.reconciliation.findings).toEqual([]);
  });
});
