import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createReceiver, type IdempotencyStore } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { sign } from 'storefront-webhooks/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/cli/dead/open-store.js';
import { contentOf, deliveryKey } from '../../src/request/key.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { begin, run, runInTerminal, serve } from './command.js';

const env = { WEBHOOK_SECRET: SECRET };

/** Leaves paid orders in a store whose handler has failed. */
async function leaveDead(
  store: IdempotencyStore,
  ids: readonly string[],
  event: 'order:paid' | 'order:updated' = 'order:paid',
  scope = '',
): Promise<void> {
  const receiver = createReceiver({ secret: SECRET, store, scope, hooks: { onError() {} } });
  receiver.on(event, ({ payload }) => {
    throw new Error(`no stock for ${payload.id}`);
  });
  for (const id of ids) {
    const body = new TextEncoder().encode(JSON.stringify(paidOrder({ id })));
    const headers = {
      'x-service-event': event,
      'x-service-webhook': `whl_${event}_${id}`,
      'x-service-signature': sign(body, SECRET),
    };
    const verified = await receiver.verify({ method: 'POST', headers, body });
    if (verified.outcome === 'rejected') throw new Error(verified.message);
    await receiver.dispatch(verified, { lastAttempt: true });
  }
}

/** Leaves a delivery whose process ended: it may be done. */
async function leaveInterrupted(store: IdempotencyStore, id: string): Promise<void> {
  const body = new TextEncoder().encode(JSON.stringify(paidOrder({ id })));
  const claimed = { scope: '', id: 'whl_1', event: 'order:paid' };
  const content = contentOf(paidOrder({ id }), body);
  const about = { ...claimed, key: deliveryKey('delivery', { ...claimed, content }), orderId: id };
  const terms = { owner: 'a', leaseMs: 1, keepMs: 1e9, maxCrashes: 5 };
  await store.claim({ ...about, receivedAt: Date.now(), body }, terms);
}

/** Leaves an order in a store for each of some shops, whose handlers have failed. */
async function leaveInScopes(store: IdempotencyStore, scopes: readonly string[]): Promise<void> {
  for (const scope of scopes) await leaveDead(store, ['ord_1'], 'order:paid', scope);
}

/** Serves a shop on a store, whose handler delivers. */
async function openShop(store: IdempotencyStore, scope = '') {
  const delivered: string[] = [];
  const receiver = createReceiver({ secret: SECRET, store, scope });
  receiver.on('order:paid', ({ payload }) => {
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
}

describe('storefront-webhooks dead, over SQLite', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dead-'));
    new Database(join(folder, 'shop.db')).close();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  contract(() => join(folder, 'shop.db'));

  test('leaves a database alone that is no store', async () => {
    const file = join(folder, 'books.db');
    const database = new Database(file);
    database.exec('CREATE TABLE book (title TEXT)');
    const { status, stderr } = await run(['dead', 'count', file]);
    expect([status, stderr]).toEqual([2, expect.stringContaining('No receiver has used the file')]);
    const names = database.prepare('SELECT name FROM sqlite_master').all();
    expect(names).toEqual([expect.objectContaining({ name: 'book' })]);
    database.close();
  });

  test.each([
    ['the address', ['--to', 'localhost:3000/webhooks'], 2, 'pass a complete one'],
    ['the prefix', ['--to', 'http://127.0.0.1:1', '--header-prefix', 'X-Shop: '], 1, 'Header name'],
  ])('puts nothing back if %s is mistyped', async (_, mistyped, code, hint) => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1']);
    const { status, stderr } = await run(['dead', 'redrive', file, ...mistyped, '--apply'], {
      env,
    });
    expect([status, stderr]).toEqual([code, expect.stringContaining(hint)]);
    expect(await store.count({ state: 'dead' })).toBe(1);
    await close();
  });

  test.each([
    ["--where 'error~stock'", ['--where', 'error~stock']],
    ['--state dead', ['--state', 'dead']],
  ])(
    'stops if no shop answers, and names the deliveries that %s no longer finds',
    async (named, which) => {
      const file = join(folder, 'shop.db');
      const database = new Database(file);
      onTestFinished(() => void database.close());
      const store = sqliteStore(database);
      const ids = ['ord_1', 'ord_2', 'ord_3', 'ord_4', 'ord_5'];
      await leaveDead(store, ids);
      await leaveInterrupted(store, 'ord_maybe_done');
      const { url, server } = await serve(createServer());
      await new Promise((resolve) => server.close(resolve));
      const redrive = (to: string, some: readonly string[]) =>
        run(['dead', 'redrive', file, '--apply', '--to', to, ...some], { env });
      const sent = await redrive(url, which);
      const refused = { status: 0, good: false };
      expect([sent.status, sent.records()]).toMatchObject([1, [refused, refused, refused]]);
      const keys = sent.records().map(({ key }) => `${key}`);
      expect(sent.stderr).toBe(
        '3 sent, 0 accepted by the shop.\n' +
          'The others were not sent, and are unchanged: once the shop accepts deliveries, run this command again.\n' +
          '3 not accepted, and stalled within a minute: then run this command again for each, ' +
          `with --where key=… in place of ${named}: ${keys.join(', ')}.\n`,
      );
      const left = (await run(['dead', 'list', file, '--state', 'dead'])).records();
      expect(left.map(({ error }) => error)).toEqual(
        Array(2).fill(expect.stringContaining('no stock')),
      );
      const shop = await openShop(store);
      expect(await redrive(shop.url, which)).toMatchObject({ status: 0 });
      expect(shop.delivered).toHaveLength(2);
      database.exec('UPDATE webhook_delivery SET not_before = not_before - 120000');
      expect(await store.list({ state: 'stalled' })).toHaveLength(4);
      for (const key of keys)
        expect(await redrive(shop.url, ['--where', `key=${key}`])).toMatchObject({ status: 0 });
      expect(shop.delivered.sort()).toEqual(ids);
    },
  );

  test('notes that interrupted deliveries may be done, unless they are left out', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    onTestFinished(() => void database.close());
    const store = sqliteStore(database);
    await leaveDead(store, ['ord_1']);
    await leaveInterrupted(store, 'ord_maybe_done');
    database.exec('UPDATE webhook_delivery SET not_before = not_before - 120000');
    const without = ['--where', 'interrupted=false'];
    const note =
      /^1 interrupted, and may be done: check .*, or leave .* --where interrupted=false\.$/m;
    for (const command of ['list', 'redrive']) {
      expect((await run(['dead', command, file])).stderr).toMatch(note);
      const left = await run(['dead', command, file, ...without]);
      expect([left.records().length, left.stderr]).toEqual([1, expect.not.stringMatching(note)]);
    }
    expect((await runInTerminal(500, ['dead', 'list', file])).lines.at(-1)).toMatch(note);

    const safe = await run(['dead', 'redrive', file, '--apply', ...without]);
    expect(safe.stderr).toMatch(/^1 put back: .*\n$/);
    expect(await store.list({ state: 'stalled' })).toMatchObject([{ orderId: 'ord_maybe_done' }]);
    const all = await run(['dead', 'redrive', file, '--apply']);
    expect(all.stderr).toContain('Check ord_maybe_done: its delivery had been interrupted');
  });

  test('names each interrupted order before the shop runs it, also if the store then fails', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    onTestFinished(() => void database.close());
    const store = sqliteStore(database);
    // Together, their ids are longer than a note may be.
    for (let id = 0; id < 60; id++) await leaveInterrupted(store, `ord_${'0'.repeat(90)}_${id}`);
    // All received at once, so that they are run in the order of the list.
    database.exec('UPDATE webhook_delivery SET received_at = 1, not_before = not_before - 120000');
    const listed = (await run(['dead', 'list', file])).records();
    database.exec(`CREATE TRIGGER full BEFORE UPDATE ON webhook_delivery
      WHEN old.key = '${listed.at(-1)?.key}' BEGIN SELECT RAISE(ABORT, 'disk full'); END`);
    const unnamed: string[] = [];
    const receiver = createReceiver({ secret: SECRET, store }).on('order:paid', ({ payload }) => {
      if (!redrive.stderr.includes(`Check ${payload.id}: `)) unnamed.push(payload.id);
    });
    const { url } = await serve(createServer(toNodeHandler(receiver)));
    const redrive = begin(['dead', 'redrive', file, '--apply', '--to', url], { env });
    const failed = await redrive.ended;
    expect(unnamed).toEqual([]);
    expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining('disk full')]);
    const named = Array.from(failed.stderr.matchAll(/^Check (\w+): /gm), ([, id]) => id);
    expect(named).toEqual(listed.slice(0, -1).map(({ orderId }) => orderId));
    expect(failed.stderr).toContain('\n59 had been interrupted: check each order');
    const records = failed.records();
    expect([records.length, records.every(({ interrupted }) => interrupted)]).toEqual([59, true]);
  });

  test('names the only delivery that was not accepted, and keeps a condition that still holds', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1']);
    const { url, server } = await serve(createServer());
    await new Promise((resolve) => server.close(resolve));
    for (const [which, advice] of [
      [
        ['--where', 'error~stock', '--where', 'interrupted=false'],
        ", with --where key=%s in place of --where 'error~stock'.",
      ],
      [['--where', 'interrupted=false'], '.'],
    ] as const) {
      const sent = await run(['dead', 'redrive', file, '--apply', '--to', url, ...which], { env });
      const [{ key } = {}] = sent.records();
      expect(sent.stderr).toContain(
        `then run this command again${advice.replace('%s', `${key}`)}\n`,
      );
      await leaveDead(store, ['ord_2']);
    }
    await close();
  });

  test('sends the deliveries after one whose handler never ends', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1', 'ord_2', 'ord_3']);
    const [first] = (await run(['dead', 'list', file])).records();
    const delivered: string[] = [];
    const receiver = createReceiver({ secret: SECRET, store }).on('order:paid', ({ payload }) => {
      if (payload.id === first?.orderId) return new Promise(() => {});
      delivered.push(payload.id);
    });
    const { url } = await serve(createServer(toNodeHandler(receiver)));
    const slow = ['--timeout', '300'];
    const sent = await run(['dead', 'redrive', file, '--apply', '--to', url, ...slow], { env });
    expect([sent.status, sent.records()]).toMatchObject([
      1,
      [{ status: 0 }, { good: true }, { good: true }],
    ]);
    expect(delivered).toHaveLength(2);
    await close();
  });

  test.each([
    ['another secret', 401, 'rejected', 1],
    ['a guard before it', 401, undefined, 3],
    ['no such path', 404, undefined, 3],
    ['no store', 503, 'unavailable', 3],
    ['a handler that fails', 500, 'failed', 4],
    ['a low limit', 413, 'rejected', 4],
  ])('a shop with %s, which answers %i %s, is sent %i of 4', async (_, answer, outcome, count) => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1', 'ord_2', 'ord_3', 'ord_4']);
    const { url } = await serve(
      createServer((request, response) =>
        request
          .resume()
          .on('end', () => response.writeHead(answer).end(JSON.stringify({ outcome }))),
      ),
    );
    const sent = await run(['dead', 'redrive', file, '--apply', '--to', url], { env });
    expect([sent.status, sent.records()]).toMatchObject([1, { length: count }]);
    expect(await store.count({ state: 'dead' })).toBe(4 - count);
    await close();
  });

  test('shows nothing with which the request of a delivery could be sent again', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1']);
    await close();
    const signature = sign(JSON.stringify(paidOrder({ id: 'ord_1' })), SECRET);
    for (const command of [
      ['list', file],
      ['show', file, 'ord_1'],
      ['redrive', file],
    ]) {
      const { records, stdout } = await run(['dead', ...command]);
      expect(records()).toMatchObject([{ orderId: 'ord_1' }]);
      expect(stdout, command[0]).not.toContain(signature);
    }
  });

  test('lists and counts the deliveries of one shop only', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveInScopes(store, ['eu', 'us']);
    await close();
    const listed = await run(['dead', 'list', file, '--scope', 'eu']);
    expect(listed.records()).toMatchObject([{ scope: 'eu' }]);
    const counted = await run(['dead', 'count', file, '--scope', 'eu']);
    expect(counted.records()).toMatchObject([{ dead: 1 }]);
  });

  test('sends deliveries with a scope only if it is named', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveInScopes(store, ['games']);
    const shop = await openShop(store, 'games');
    const to = ['dead', 'redrive', file, '--to', shop.url, '--apply'];
    for (const args of [to.slice(0, -1), to]) {
      const { status, stderr } = await run(args, { env });
      expect([status, stderr]).toEqual([2, expect.stringMatching(/the scope "games".*--scope/)]);
    }
    expect([shop.delivered, await store.count({ state: 'dead' })]).toEqual([[], 1]);
    expect(await run([...to, '--scope', 'games'], { env })).toMatchObject({ status: 0 });
    expect(shop.delivered).toHaveLength(1);
    await close();
  });

  test('sends the deliveries of one shop only', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveInScopes(store, ['eu', 'us']);
    const shop = await openShop(store, 'eu');
    const to = ['dead', 'redrive', file, '--to', shop.url, '--apply'];
    const { status, stderr } = await run(to, { env });
    expect([status, stderr]).toEqual([2, expect.stringContaining('several scopes: "eu", "us"')]);
    expect([shop.delivered, await store.count({ state: 'dead' })]).toEqual([[], 2]);
    expect(await run([...to, '--scope', 'eu'], { env })).toMatchObject({ status: 0 });
    expect(shop.delivered).toHaveLength(1);
    await close();
  });

  test('does not count a delivery as done that the shop has put into its queue', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1']);
    const queue = { durable: true, enqueue: async () => ({ id: '1' }) } as const;
    const receiver = createReceiver({ secret: SECRET, store, queue });
    const { url, server } = await serve(createServer(toNodeHandler(receiver)));
    onTestFinished(() => receiver.close({ server }));
    const sent = await run(['dead', 'redrive', file, '--to', url, '--apply'], { env });
    expect([sent.status, sent.records()]).toMatchObject([
      1,
      [{ outcome: 'queued', good: false, fix: expect.stringContaining('receiver.redrive') }],
    ]);
    await close();
  });

  test('goes on after a delivery that cannot be sent', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1', `ord_${'2'.repeat(300)}`, 'ord_3']);
    const shop = await openShop(store);
    const sent = await run(['dead', 'redrive', file, '--to', shop.url, '--apply'], { env });
    expect([sent.status, sent.records()]).toMatchObject([1, { length: 3 }]);
    expect(shop.delivered.sort()).toEqual(['ord_1', 'ord_3']);
    // It keeps its state and its error.
    const [left] = await store.list({ state: 'dead', limit: 10 });
    expect(left).toMatchObject({ id: expect.stringContaining('…'), error: expect.any(String) });
    expect(sent.records()).toContainEqual(
      expect.objectContaining({ key: left?.key, action: 'left: cannot be sent' }),
    );
    expect(sent.stderr).toContain('1 cannot be sent, because an HTTP header cannot hold the id');
    await close();
  });

  test('lists, counts and redrives every delivery', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    const store = sqliteStore(database);
    const ids = Array.from({ length: 201 }, (_, at) => `ord_${at}`);
    await leaveDead(store, ids);
    const listed = (await run(['dead', 'list', file])).records();
    expect(new Set(listed.map(({ orderId }) => orderId))).toEqual(new Set(ids));
    expect((await run(['dead', 'count', file])).records()).toMatchObject([{ dead: 201 }]);
    const back = await run(['dead', 'redrive', file, '--apply']);
    expect(back.records()).toHaveLength(201);
    expect(await store.count({ state: 'dead' })).toBe(0);
    database.close();
  });

  test('reports that more are left than --max', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1', 'ord_2', 'ord_3']);
    for (const [apply, action] of [
      [[], 'would be put back'],
      [['--apply'], 'put back'],
    ] as const) {
      const some = await run(['dead', 'redrive', file, '--max', '2', ...apply]);
      expect(some.records().map((record) => record.action)).toEqual([action, action]);
      expect(some.stderr).toContain('There are more than 2: run it again for the rest');
      expect(some.status).toBe(1);
    }
    const rest = await run(['dead', 'redrive', file, '--max', '1', '--apply']);
    expect([rest.status, rest.stderr]).toEqual([0, expect.stringMatching(/^1 put back: /)]);
    expect(rest.stderr).not.toContain('--max');
    await close();
  });

  test('says so where it does not count further', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1']);
    await close();
    const database = new Database(file);
    onTestFinished(() => void database.close());
    const copy = (count: number) =>
      database.exec(`WITH RECURSIVE copy (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < ${count})
        INSERT OR IGNORE INTO webhook_delivery
          (key, scope, delivery_id, event, received_at, body, state, owner, fence, not_before)
        SELECT printf('%064d', n), '', 'whl_1', 'order:paid', 0, x'7b7d', 'dead', 'a', 1, 0 FROM copy`);
    copy(9_998);
    expect((await run(['dead', 'count', file])).records()).toEqual([
      { dead: 9_999, stalled: 0, failing: 0 },
    ]);
    copy(10_500);
    expect((await run(['dead', 'count', file])).records()).toEqual([
      { dead: 10_000, stalled: 0, failing: 0, orMore: ['dead'] },
    ]);
    const { lines } = await runInTerminal(80, ['dead', 'count', file]);
    expect(lines).toEqual(['dead     10000 or more', 'stalled  0', 'failing  0']);
  });

  test('does not redrive a delivery that is not proven genuine, and reports it', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    const store = sqliteStore(database);
    await leaveDead(store, ['ord_2']);
    // The oldest.
    const key = '0'.repeat(64);
    const row = { key, scope: '', id: 'whl_1', event: 'order:paid', receivedAt: 1 };
    const body = new TextEncoder().encode('{"id":"ord_1"}');
    const terms = { owner: 'a', leaseMs: 1000, keepMs: 1e9, maxCrashes: 5 };
    const claim = await store.claim({ ...row, body, proof: '!forged' }, terms);
    if (claim.state !== 'acquired') throw new Error('it was not claimed');
    await store.fail(key, claim.fence, { permanent: true, error: 'not proven' });
    const redrive = ['dead', 'redrive', file, '--apply', '--max', '1'];
    const { status, stderr, records } = await run(redrive);
    const actions = records().map(({ action }) => action);
    expect([status, actions]).toEqual([1, ['not proven: left', 'put back']]);
    expect(stderr).toMatch(/^1 put back: .*\n$/);
    expect(await store.count({ state: 'dead' })).toBe(1);
    database.close();
  });

  test('lists stalled and failing deliveries as well, and redrives each that the provider no longer retries', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    const store = sqliteStore(database);
    await leaveDead(store, ['ord_1']);
    const failing = createReceiver({ secret: SECRET, store, hooks: { onError() {} } });
    failing.on('order:paid', () => Promise.reject(new Error('no stock')));
    for (const id of ['ord_2', 'ord_3']) await deliver(failing, paidOrder({ id }));
    // A minute after the retry was due, it has not arrived.
    const age =
      "UPDATE webhook_delivery SET not_before = not_before - 120000 WHERE state = 'retry'";
    database.exec(`${age} AND instr(body, 'ord_3') > 0`);
    const states = (await run(['dead', 'list', file])).records().map(({ state }) => state);
    expect(states).toEqual(['dead', 'stalled', 'failing']);
    const put = (await run(['dead', 'redrive', file, '--apply'])).records();
    expect(put.map(({ orderId }) => orderId)).toEqual(['ord_1', 'ord_3']);
    const none = await run(['dead', 'redrive', file]);
    expect(none.stderr).toMatch(
      /No delivery is dead or stalled\.\s+1 failing: .* dead redrive --state failing --to <url>\./,
    );
    const failingOnly = ['dead', 'redrive', file, '--state', 'failing'];
    const untold = await run([...failingOnly, '--apply']);
    expect([untold.status, untold.records()]).toMatchObject([1, [{ action: 'left: give --to' }]]);
    expect(untold.stderr).toMatch(/^0 put back: /);
    expect((await run(failingOnly)).records()).toMatchObject([{ action: 'left: give --to' }]);
    const shop = await openShop(store);
    const now = [...failingOnly, '--apply', '--to', shop.url];
    const done = await run(now, { env });
    expect([done.status, shop.delivered]).toEqual([0, ['ord_2']]);
    expect(done.stderr).toContain('1 sent, 1 accepted by the shop.');
    database.close();
  });

  test('runs every delivery of an order, so that none stays listed after the order was delivered', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    onTestFinished(() => void database.close());
    const store = sqliteStore(database);
    const failing = createReceiver({ secret: SECRET, store, hooks: { onError() {} } });
    failing.on(['order:paid', 'order:updated'], () => Promise.reject(new Error('no stock')));
    await deliver(failing, paidOrder());
    database.exec('UPDATE webhook_delivery SET not_before = not_before - 120000');
    await deliver(failing, paidOrder(), { event: 'order:updated' });
    await deliver(failing, paidOrder({ id: 'ord_2' }));
    const delivered: string[] = [];
    const shop = createReceiver({ secret: SECRET, store }).on(
      ['order:paid', 'order:updated'],
      ({ payload }) => void delivered.push(payload.id),
      { name: 'deliver', oncePer: ({ id }) => id },
    );
    const { url, server } = await serve(createServer(toNodeHandler(shop)));
    onTestFinished(() => shop.close({ server }));
    const done = await run(['dead', 'redrive', file, '--apply', '--to', url], { env });
    expect(done.records().map(({ event, outcome }) => [event, outcome])).toEqual([
      ['order:paid', 'handled'],
      ['order:updated', 'duplicate'],
    ]);
    expect(delivered).toEqual(['ord_1']);
    const left = (await run(['dead', 'list', file])).records();
    expect(left).toMatchObject([{ orderId: 'ord_2', state: 'failing' }]);
  });

  test('leaves alone what fails in another shop that has an order of the same id', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1']);
    const other = { secret: SECRET, store, scope: 'games', hooks: { onError() {} } };
    const failing = createReceiver(other).on('order:paid', () => Promise.reject(new Error('no')));
    await deliver(failing, paidOrder({ id: 'ord_1' }));
    const shop = await openShop(store);
    const { status } = await run(['dead', 'redrive', file, '--apply', '--to', shop.url], { env });
    expect([status, shop.delivered]).toEqual([0, ['ord_1']]);
    const left = (await run(['dead', 'list', file])).records();
    expect(left).toMatchObject([{ scope: 'games', state: 'failing' }]);
    await close();
  });

  test('runs the deliveries in the order in which they were received, also over --max', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    onTestFinished(() => void database.close());
    const store = sqliteStore(database);
    const orders = ['ord_1', 'ord_2', 'ord_3', 'ord_4'];
    for (const id of orders) {
      await leaveDead(store, [id]);
      await leaveDead(store, [id], 'order:updated');
    }
    // A second apart.
    database.exec('UPDATE webhook_delivery SET received_at = received_at + 1000 * rowid');
    const ran: string[] = [];
    const shop = createReceiver({ secret: SECRET, store }).on(
      ['order:paid', 'order:updated'],
      ({ event, payload }) => void ran.push(`${event} ${payload.id}`),
    );
    const { url, server } = await serve(createServer(toNodeHandler(shop)));
    onTestFinished(() => shop.close({ server }));
    for (const max of ['3', '1000']) {
      await run(['dead', 'redrive', file, '--apply', '--to', url, '--max', max], { env });
    }
    expect(ran).toEqual(orders.flatMap((id) => [`order:paid ${id}`, `order:updated ${id}`]));
  });

  test('redrives a failing delivery that has become stalled', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    onTestFinished(() => void database.close());
    const store = sqliteStore(database);
    const failing = createReceiver({ secret: SECRET, store, hooks: { onError() {} } });
    failing.on('order:paid', () => Promise.reject(new Error('no stock')));
    await deliver(failing, paidOrder());
    const told = await runInTerminal(80, ['dead', 'list', file]);
    expect(told.lines.join(' ')).toMatch(
      /1 failing: due for a retry, and stalled if it is a minute late/,
    );
    database.exec('UPDATE webhook_delivery SET not_before = not_before - 120000');
    const shop = await openShop(store);
    const args = ['--state', 'failing', '--apply', '--to', shop.url];
    const done = await run(['dead', 'redrive', file, ...args], { env });
    expect([done.records(), shop.delivered]).toMatchObject([[{ outcome: 'handled' }], ['ord_1']]);
  });

  test('reports how many redriven deliveries the shop has not claimed, and finds an order that a list has cut off', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_0123456789']);
    for (const cut of ['ord_01234…', 'ord_012345']) {
      expect((await run(['dead', 'show', file, cut])).records()).toMatchObject([
        { orderId: 'ord_0123456789' },
      ]);
    }
    expect((await run(['dead', 'show', file, 'ord_0'])).status).toBe(1);
    const { url, server } = await serve(
      createServer((_, response) => response.writeHead(503).end()),
    );
    onTestFinished(() => void server.close());
    const put = await run(['dead', 'redrive', file, '--apply', '--to', url], { env });
    expect([put.status, put.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^1 sent, 0 accepted by the shop\.\n1 not accepted, and stalled within a minute: then run this command again\.\n$/,
      ),
    ]);
    await close();
  });

  test('shows the order with the given id, although a longer id begins with it', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    onTestFinished(() => void database.close());
    const store = sqliteStore(database);
    // Dead deliveries come first.
    await leaveDead(store, ['10000000012']);
    await leaveInterrupted(store, '1000000001');
    database.exec('UPDATE webhook_delivery SET not_before = not_before - 120000');
    for (const [given, orderId] of [
      ['1000000001', '1000000001'],
      ['10000000012', '10000000012'],
      // As a narrow list cuts the longer one.
      ['1000000001…', '10000000012'],
    ] as const) {
      expect((await run(['dead', 'show', file, given])).records()).toMatchObject([{ orderId }]);
    }
  });

  test('shows one delivery of an order, and reports how many others wait', async () => {
    const file = join(folder, 'shop.db');
    const database = new Database(file);
    onTestFinished(() => void database.close());
    const store = sqliteStore(database);
    await leaveDead(store, ['ord_1', 'ord_2']);
    await leaveInterrupted(store, 'ord_1');
    database.exec('UPDATE webhook_delivery SET not_before = not_before - 120000');
    const shown = await run(['dead', 'show', file, 'ord_1']);
    const [delivery] = shown.records();
    expect([shown.status, shown.records()]).toMatchObject([0, [{ orderId: 'ord_1' }]]);
    expect(shown.stderr).toBe(
      '1 more of this order: show each by its key, as listed by npx storefront-webhooks dead list <store> --where order=ord_1\n',
    );
    for (const given of ['ord_2', String(delivery?.key)])
      expect((await run(['dead', 'show', file, given])).stderr).toBe('');
  });

  test('prints JSON in a terminal if --json is given, anywhere on the command line', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1']);
    await close();
    for (const args of [
      ['dead', 'list', file, '--json'],
      ['dead', '--json', 'list', file],
      ['dead', 'count', file, '--json'],
    ]) {
      const { lines } = await runInTerminal(500, args);
      expect(() => JSON.parse(lines[0] ?? ''), args.join(' ')).not.toThrow();
    }
    const { lines } = await runInTerminal(80, ['dead', 'show', file, 'ord_1']);
    expect(lines.join('\n')).toMatch(/^state +dead\nevent +order:paid\norder +ord_1\n/);
    expect(lines).toContain('  "id": "ord_1",');
  });

  test('fits into a terminal', async () => {
    const file = join(folder, 'shop.db');
    const { store, close } = await openStore(file);
    await leaveDead(store, ['ord_1']);
    await close();
    const { lines } = await runInTerminal(80, ['dead', 'list', file]);
    expect(lines[0]).toMatch(/^dead .*order:paid .*ord_1 .*no stock/);
    expect(lines[0]?.length).toBeLessThanOrEqual(80);
    expect(lines[1]).toMatch(/^1 dead: nothing runs them/);
  });

  test('sends to another machine over plain HTTP only with --plain-http', async () => {
    const redrive = ['dead', 'redrive', join(folder, 'shop.db'), '--to', 'http://192.0.2.1/hook'];
    const refused = await run(redrive);
    expect(refused.stderr).toContain('--plain-http');
    expect(refused.status).toBe(2);
    expect(await run([...redrive, '--plain-http', '--timeout', '100'])).toMatchObject({
      status: 0,
    });
  });

  test.each(['postgres://127.0.0.1:1/shop', 'redis://127.0.0.1:1'])(
    'reports that the store does not answer: %s',
    async (url) => {
      const { status, stdout, stderr } = await run(['dead', 'count', url]);
      expect(stderr).toMatch(/^storefront-webhooks: The store does not answer: .+\n$/);
      expect([status, stdout]).toEqual([1, '']);
    },
  );

  test.each([
    '"postgres://shop:s3cret@db/shop"',
    "'redis://:s3cret@db'",
    'postgresql+asyncpg://shop:s3cret@db/shop',
    'jdbc:postgresql://db/shop?user=shop&password=s3cret',
    'mysql://shop:s3cret@db/shop',
    'host=db user=shop password=s3cret',
  ])('does not print the password of a store that it cannot open: %s', async (value) => {
    for (const args of [
      ['dead', 'count'],
      ['drill', '--store'],
    ]) {
      const named = await run([...args, 'DATABASE_URL'], { env: { DATABASE_URL: value } });
      expect([named.status, named.stderr]).toEqual([
        2,
        expect.stringContaining('The variable DATABASE_URL holds neither postgres://…, redis://…'),
      ]);
      expect(named.stderr).not.toContain('s3cret');
    }
    if (!value.includes('://')) return;
    const typed = await run(['dead', 'count', value]);
    expect([typed.status, typed.stdout]).toEqual([2, '']);
    expect(typed.stderr).not.toContain('s3cret');
  });

  test.each([
    [['list', 'nowhere.db'], 'no file nowhere.db'],
    [['list', 'mysql://localhost'], 'postgres://'],
    [['list', 'test', '--where', 'colour=red'], 'The fields are key, id, event'],
    [['list', 'test', '--state', 'deed'], 'Allowed choices are dead'],
  ])('that is used wrongly exits with 2: %j', async (args, hint) => {
    const named = args.map((arg) => (arg === 'test' ? join(folder, 'shop.db') : arg));
    const { status, stderr } = await run(['dead', ...named]);
    expect(stderr).toContain(hint);
    expect(status).toBe(2);
  });
});
