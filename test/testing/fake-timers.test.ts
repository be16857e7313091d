import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import Database from 'libsql';
import { createReceiver, type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { crashPoints, loadFixture, replay } from 'storefront-webhooks/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openShop } from '../sandbox/webhooks/shop.js';
import { gate } from '../support/gate.js';
import { openPglite } from '../support/pglite.js';
import { stillClocks } from '../support/still-clocks.js';

const secret = 'a secret for tests';

/** The stores that need no server. */
const STORES: Readonly<Record<string, () => Promise<IdempotencyStore>>> = {
  memory: async () => memoryStore(),
  SQLite: async () => sqliteStore(new Database(':memory:')),
  PostgreSQL: async () => {
    const database = await openPglite();
    await database.exec(postgresSchema());
    return postgresStore(database);
  },
};

describe.each(stillClocks)('while the fake clock of a test stands still (%s)', (_, install) => {
  const stopClock = () => onTestFinished(install());

  test.each(Object.keys(STORES))('a receiver on %s answers', async (name) => {
    const store = await STORES[name]?.();
    const receiver = createReceiver({ secret, ...(store && { store }) }).onPaid(() => {});
    receiver.on('order:updated', async ({ once }) => {
      await once('a', () => 1);
      await once('b', () => 2);
    });
    stopClock();
    const paid = await replay(receiver, 'order:paid', { duplicate: 3, concurrency: 3 });
    expect(paid.map(({ outcome }) => outcome).sort()).toEqual([
      'duplicate',
      'duplicate',
      'handled',
    ]);
    expect(await replay(receiver, 'order:updated')).toMatchObject({ outcome: 'handled' });
    await receiver.close();
  });

  test('replay() sends a body in pieces', async () => {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      bodies.push(body);
      response.end();
    });
    stopClock();
    await replay(server, 'order:paid', { secret, chunks: 5 });
    const sent = new TextDecoder().decode(loadFixture('order:paid').body);
    expect(bodies).toEqual([sent]);
  });

  test('crashPoints finishes', async () => {
    const observe = { mail: async (_to: string) => {}, key: () => 'AAAA' };
    const make = (store: IdempotencyStore, { mail, key }: typeof observe) =>
      createReceiver({ secret, store }).on('order:paid', async ({ payload, once }) => {
        await once('mail', () => mail(payload.email));
        await once('key', () => key());
      });
    stopClock();
    const { findings, points } = await crashPoints(make, 'order:paid', { observe });
    expect([findings, points.length > 2]).toEqual([[], true]);
  });

  test('a sandbox whose clock is fast sends its webhooks', async () => {
    stopClock();
    const sent: number[] = [];
    const { opened, open } = gate();
    const onAttempt = ({ status }: { status: number }) => {
      if (sent.push(status) === 3) open();
    };
    const shop = openShop({ clock: 'fast', onAttempt });
    shop.subscribe('http://127.0.0.1:1/in');
    shop.order();
    await opened;
    await shop.close();
    expect(sent.slice(0, 3)).toEqual([0, 0, 0]);
  });
});

test('only the listed modules wait for a turn of the event loop, with timers taken at import', () => {
  const PLACES = [
    'src/runtime/timing.ts',
    'src/runtime/turn.ts',
    'src/testing/timers.ts',
    'adapters/shared/node-response.ts',
  ];
  // A command is a process of its own.
  const OWN = /^src\/cli\//;
  const WAITS =
    /\b(?:setImmediate|queueMicrotask|process\.nextTick|timers\/promises)\b|=> setTimeout\(\w+(?:, 0)?\)/;
  const IN_TESTS = /\b(?:setTimeout|setInterval|performance\.now)\(/;
  const files = ['src', 'adapters'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const found = files
    .filter((file) => file.endsWith('.ts') && !OWN.test(file) && !PLACES.includes(file))
    .filter((file) => !readFileSync(file, 'utf8').includes("/timers.js'"))
    .flatMap((file) => {
      const code = readFileSync(file, 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
      const isTool = file.startsWith('src/testing/');
      return WAITS.test(code) || (isTool && IN_TESTS.test(code)) ? [file] : [];
    });
  expect(found).toEqual([]);
});
