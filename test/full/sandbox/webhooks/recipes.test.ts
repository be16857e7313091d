import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { toNodeHandler } from 'storefront-webhooks/node';
import { expect, onTestFinished, test } from 'vitest';
import { installed, withRuntimes } from '../../../runtimes/installed.js';
import { openShop, SECRET } from '../../../sandbox/webhooks/shop.js';
import { openStore } from '../../../stores/sqlite/remote.js';
import { startPostgres, withPostgres } from '../../../support/postgres.js';
import { compileProgram } from '../../../support/program.js';
import { startRedis, withRedis } from '../../../support/redis.js';
import { start } from '../../../support/start.js';

const NODE_22 = installed('node22/bin/node');
const EVENTS = ['order:created', 'order:updated', 'order:paid'];
/** The tested recipes. */
const tried: string[] = [];

/** A folder for a database, which is deleted after the test. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recipe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Starts a recipe as its own test does, and returns its address. */
async function open(recipe: string, env: Record<string, string>, node = process.execPath) {
  const args = [await compileProgram(`examples/recipes/${recipe}.ts`, 'build')];
  const started = await start(node, args, { env: { WEBHOOK_SECRET: SECRET, ...env } });
  onTestFinished(() => started.stop());
  return started.origin;
}

/** Answers every request with `{}`, or with an empty list if it requests one. */
async function openService(): Promise<string> {
  const server = createServer((request, response) => {
    response.end(request.method === 'GET' ? '[]' : '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Checks that the recipe accepts the webhooks of a sale, and rejects them under another secret. */
function takes(recipe: string, run: () => Promise<string>, path = '/webhooks') {
  tried.push(recipe);
  test(`the recipe of ${recipe} accepts each webhook of the sandbox, and rejects it under another secret`, async () => {
    const shop = openShop();
    onTestFinished(() => shop.close());
    const url = (await run()) + path;
    shop.subscribe(url, EVENTS);
    shop.sell(shop.account.products.put({ ...shop.product(), id: 'prd_84c1d0' }));
    await shop.idle();
    const logs = shop.logs();
    expect(new Set(logs.map(({ event }) => event))).toEqual(new Set(EVENTS));
    expect(logs.map(({ response_code }) => response_code)).toEqual(
      logs.map(() => expect.toSatisfy(isTaken)),
    );
    const outcomes = logs.map(({ response }) => JSON.parse(response ?? '{}').outcome);
    expect(outcomes).toEqual(expect.arrayContaining([expect.stringMatching(/^(handled|queued)$/)]));

    shop.account.set({ webhook_secret: 'another secret' });
    const { id } = shop.sell();
    await shop.idle();
    const refused = shop.logs().filter(({ payload }) => payload.id === id);
    expect(new Set(refused.map(({ response_code }) => response_code))).toEqual(new Set([401]));
  });
}

const isTaken = (status: number) => status >= 200 && status < 300;

withPostgres('recipes with PostgreSQL', () => {
  for (const recipe of ['balance', 'by-hand']) {
    takes(recipe, async () => {
      const server = await startPostgres();
      onTestFinished(() => server.remove());
      const pool = new pg.Pool({ connectionString: server.url, max: 1 });
      await pool.query('CREATE TABLE processed_orders (order_id text PRIMARY KEY)');
      await pool.end();
      return open(recipe, { DATABASE_URL: server.url, TOP_UP_PRODUCT: 'prd_84c1d0' });
    });
  }
});

withRedis('recipes with Redis', () => {
  takes('impatient-sender', async () => {
    const redis = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] });
    onTestFinished(() => redis.remove());
    return open('impatient-sender', { REDIS_URL: redis.url, WORK_MS: '1' });
  });
});

withRuntimes('recipes with SQLite', () => {
  takes('discord', async () => {
    const discord = { DISCORD_API: await openService(), DISCORD_TOKEN: 'a-token' };
    return open('discord', { ...discord, DATABASE_FILE: join(makeFolder(), 'shop.db') }, NODE_22);
  });

  takes('licence-keys', async () => {
    const DATABASE_FILE = join(makeFolder(), 'shop.db');
    const MAILER_URL = await openService();
    const origin = await open('licence-keys', { DATABASE_FILE, MAILER_URL }, NODE_22);
    const database = await openStore([NODE_22], 'node:sqlite', DATABASE_FILE);
    await database.sql("INSERT INTO licence (code, product) VALUES ('CODE', 'prd_84c1d0')");
    await database.stop();
    return origin;
  });

  takes(
    'several-shops',
    () => {
      const secrets = { KEYS_SECRET: SECRET, GAMES_SECRET: 'another one' };
      const file = { DATABASE_FILE: join(makeFolder(), 'shop.db') };
      return open('several-shops', { ...secrets, ...file }, NODE_22);
    },
    '/webhooks/keys',
  );
});

takes('test-button', async () => {
  process.env.WEBHOOK_SECRET = SECRET;
  const { receiver } = await import('../../../../examples/recipes/test-button.js');
  const server = createServer(toNodeHandler(receiver));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

test('each recipe is tested, if its requirements are installed', () => {
  const recipes = readdirSync('examples/recipes').map((file) => file.replace(/\.ts$/, ''));
  if (process.env.CI) expect(tried.sort()).toEqual(recipes.sort());
  else expect(recipes).toEqual(expect.arrayContaining(tried));
});
