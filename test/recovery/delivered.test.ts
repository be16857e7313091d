import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { type Confirm, createReceiver, type IdempotencyStore } from 'storefront-webhooks';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import {
  type ReconcileOptions,
  type RecoverableReceiver,
  reconcile,
  recover,
} from 'storefront-webhooks/recovery';
import { sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { deliver, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { openPglite } from '../support/pglite.js';
import {
  ago,
  ENDPOINT,
  type Entry,
  entry,
  live,
  MINUTE,
  NOW,
  type Provided,
  paid,
  provider,
  URL,
} from './provider.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function openSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'reconcile-'));
  const database = new Database(join(folder, 'shop.db'));
  ends.push(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  return database;
}

const hooks = { onRejected() {}, onError() {} };
const fast = { url: URL, now: NOW, perSecond: Number.POSITIVE_INFINITY };
const perOrder = { name: 'deliver', oncePer: ({ id }: { id: string }) => id };

const disagreeing: Confirm = async () => ({
  state: 'disagreed',
  issues: [{ path: 'value', message: 'differs from the order' }],
});

function open(store: IdempotencyStore, confirm?: Confirm) {
  return createReceiver({ secret: SECRET, store, hooks, ...(confirm && { confirm }) });
}

async function findings(
  provided: Provided,
  receiver: RecoverableReceiver,
  options: Partial<ReconcileOptions> = {},
) {
  const found = await reconcile({ receiver, client: provider(provided), ...fast, ...options });
  return found.findings.map(({ orderId, kind }) => `${orderId} ${kind}`);
}

function bringBack(provided: Provided, receiver: RecoverableReceiver) {
  return recover({ receiver, client: provider(provided), ...fast, apply: true });
}

async function answered(receiver: Parameters<typeof deliver>[0], one: Entry): Promise<Entry> {
  const { id, event, payload } = one;
  const { status, headers, body } = await deliver(receiver, payload, { event: `${event}`, id });
  return { ...one, response_code: status, response: body, response_headers: { ...headers } };
}

function stores(define: (openStore: () => Promise<IdempotencyStore>) => void) {
  describe('on SQLite', () => define(async () => sqliteStore(openSqlite())));
  describe('on PostgreSQL', () => define(async () => postgresStore(await openPglite())));
}

describe('reconcile with a store', () => {
  stores((openStore) => {
    test('counts a recovered order as delivered', async () => {
      const receiver = open(await openStore()).on('order:paid', () => {});
      const provided = { logs: [entry(2), entry(1)], orders: [paid(2), paid(1)] };
      expect(await findings(provided, receiver)).toHaveLength(2);
      await bringBack(provided, receiver);
      expect(await findings(provided, receiver)).toEqual([]);
    });

    test('counts an order without a log entry as delivered after recovery has run its handler', async () => {
      const receiver = open(await openStore()).on('order:paid', () => {}, perOrder);
      const endpoint = { ...ENDPOINT, enabled: false };
      const logs = [await live({ receiver })];
      const provided = { logs, orders: [paid(1)], endpoints: [endpoint] };
      expect(await findings(provided, receiver)).toEqual(['ord_1 not_delivered']);
      await bringBack(provided, receiver);
      expect(await findings(provided, receiver)).toEqual([]);
    });

    test('changes nothing: recovery still delivers the order once', async () => {
      const delivered: string[] = [];
      const receiver = open(await openStore()).on(
        'order:paid',
        ({ payload: { id }, attempt }) => void delivered.push(`${id} ${attempt}`),
        perOrder,
      );
      const provided = { logs: [entry(1)], orders: [paid(1)] };
      for (let times = 0; times < 3; times++) await findings(provided, receiver);
      await bringBack(provided, receiver);
      await bringBack(provided, receiver);
      expect(delivered).toEqual(['ord_1 1']);
    });
  });

  test('counts a dead order as delivered after its redrive', async () => {
    const store = sqliteStore(openSqlite());
    let works = false;
    const receiver = open(store).on('order:paid', () => {
      if (!works) throw new Error('no');
    });
    const provided = { logs: [await answered(receiver, entry(1))], orders: [paid(1)] };
    const [failing] = await store.list({ state: 'failing' });
    if (!failing) throw new Error('It has not failed.');
    const terms = { owner: 'a person', leaseMs: MINUTE, keepMs: MINUTE, maxCrashes: 9 };
    const claim = await store.claim({ ...failing, receivedAt: NOW.getTime() }, terms);
    if (claim.state !== 'acquired') throw new Error(`It is ${claim.state}.`);
    await store.fail(failing.key, claim.fence, { permanent: true, error: 'no' });
    expect(await findings(provided, receiver)).toEqual(['ord_1 not_delivered']);
    works = true;
    await receiver.redrive(failing);
    expect(await findings(provided, receiver)).toEqual([]);
  });

  test.each([
    ['delivered twice, if a plain handler ran under both keys', {}, ['ord_1 delivered_twice']],
    ['delivered once, if the handler has oncePer', perOrder, []],
  ])(
    'finds an order that was handled and then recovered under another key: %s',
    async (_, options, kinds) => {
      const receiver = open(sqliteStore(openSqlite())).on('order:paid', () => {}, options);
      const again = entry(2, { payload: paid(1, { updated_at: ago(10 * MINUTE) }) });
      const provided = { logs: [again, await answered(receiver, entry(1))], orders: [paid(1)] };
      await bringBack(provided, receiver);
      expect(await findings(provided, receiver)).toEqual(kinds);
    },
  );

  test('finds an order if one of two handlers has not finished', async () => {
    const receiver = open(sqliteStore(openSqlite()))
      .on('order:paid', () => {}, perOrder)
      .on(
        'order:paid',
        () => {
          throw new Error('no');
        },
        { name: 'mail', oncePer: ({ id }) => id },
      );
    const provided = { logs: [entry(1)], orders: [paid(1)] };
    await bringBack(provided, receiver);
    expect(await findings(provided, receiver)).toEqual(['ord_1 not_delivered']);
  });

  test('does not count a delivery that onInvalid accepted as delivered', async () => {
    const receiver = open(sqliteStore(openSqlite()))
      .on('order:paid', () => {})
      .onInvalid(() => {});
    const odd = entry(1, { payload: { ...paid(1), status: 0 } });
    const provided = { logs: [odd], orders: [paid(1)] };
    const { deliveries } = await bringBack(provided, receiver);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['parked']);
    expect(await findings(provided, receiver)).toEqual(['ord_1 not_delivered']);
  });

  test('counts a refund as taken back that was handled before the endpoint moved here', async () => {
    const receiver = open(durableStore())
      .on('order:paid', () => {}, perOrder)
      .on('order:updated', () => {});
    const old = { url: 'https://shop.example/old' };
    const back = { ...old, event: 'order:updated', payload: paid(1, { status: 56 }) };
    const provided = {
      logs: [entry(2, back), await answered(receiver, entry(1, old))],
      orders: [paid(1, { status: 56 })],
    };
    // The old address did not answer: the store does not have the refund as done.
    expect(await findings(provided, receiver)).toEqual(['ord_1 not_taken_back']);
    await answered(receiver, entry(2, back));
    const { findings: none, orders } = await reconcile({
      ...{ receiver, client: provider(provided), ...fast },
    });
    expect([none, orders]).toEqual([[], 1]);
  });

  test('asks the secret function for the shop only of reversed orders at another address', async () => {
    const urls: string[] = [];
    const receiver = createReceiver({
      secret: ({ url = '' }) => {
        urls.push(url);
        return { secret: SECRET, scope: 'games' };
      },
      store: durableStore(),
      hooks,
    }).on('order:paid', () => {}, perOrder);
    const old = { url: 'https://shop.example/old' };
    const logs = [3, 2, 1].map((number) => entry(number, old));
    const back = entry(4, { ...old, event: 'order:updated', payload: paid(1, { status: 56 }) });
    const asked = async (logs: Entry[]) => {
      urls.length = 0;
      await findings({ logs, orders: [] }, receiver);
      return urls.filter((url) => url.includes('old')).length;
    };
    expect(await asked(logs)).toBe(0);
    expect(await asked([back, ...logs])).toBeGreaterThan(0);
  });

  test('does not count a copy of such a delivery, which a sender gets if the first answer was lost', async () => {
    const receiver = open(sqliteStore(openSqlite()), disagreeing)
      .on('order:paid', () => {}, perOrder)
      .onInvalid(() => {});
    await answered(receiver, entry(1));
    const provided = { logs: [await answered(receiver, entry(1))], orders: [paid(1)] };
    expect(await findings(provided, receiver)).toEqual(['ord_1 not_delivered']);
  });

  test.each([
    ['confirm disagrees', {}, disagreeing],
    ['its payload does not fit', { payload: { ...paid(1), status: 0 } }, undefined],
  ])(
    'leaves such a delivery parked, however often recovery runs it (%s)',
    async (_, parts, confirm) => {
      const receiver = open(sqliteStore(openSqlite()), confirm)
        .on('order:paid', () => {}, perOrder)
        .onInvalid(() => {});
      const provided = { logs: [entry(1, parts)], orders: [paid(1)] };
      for (let run = 0; run < 2; run++) {
        const { deliveries, complete } = await bringBack(provided, receiver);
        expect([deliveries, complete]).toMatchObject([[{ outcome: 'parked' }], false]);
      }
    },
  );

  test('counts a refund as taken back after recovery has run its webhook', async () => {
    const receiver = open(sqliteStore(openSqlite()))
      .on('order:paid', () => {})
      .on('order:updated', () => {});
    const refund = entry(2, { event: 'order:updated', payload: paid(1, { status: 56 }) });
    const provided = {
      logs: [refund, await answered(receiver, entry(1))],
      orders: [paid(1, { status: 56 })],
    };
    expect(await findings(provided, receiver)).toEqual(['ord_1 not_taken_back']);
    await bringBack(provided, receiver);
    expect(await findings(provided, receiver)).toEqual([]);
  });

  test('uses the log if the store has no isDone', async () => {
    const { isDone: _, ...store } = durableStore();
    const receiver = open(store).on('order:paid', () => {});
    const provided = {
      logs: [entry(2), await answered(receiver, entry(1))],
      orders: [paid(1), paid(2)],
    };
    await bringBack(provided, receiver);
    expect(await findings(provided, receiver)).toEqual(['ord_2 not_delivered']);
  });
});

describe('reconcile with a ledger', () => {
  /** Three orders were answered as handled. The goods of the second were never sent. */
  async function sell(
    store: IdempotencyStore,
    enter: (event: { key: string; handler: string }) => Promise<boolean>,
    options: object,
  ) {
    const receiver = open(store).on(
      'order:paid',
      async (event) => {
        if (event.payload.id !== 'ord_2') await enter(event);
      },
      options,
    );
    const logs = [entry(3)];
    for (const number of [2, 1]) logs.push(await answered(receiver, entry(number)));
    const provided = { logs, orders: [paid(1), paid(2), paid(3), paid(4, { status: 56 })] };
    await bringBack(provided, receiver);
    return { receiver, provided };
  }

  const named: [string, object][] = [
    ['under the key of the delivery', {}],
    ['under the key of the order', perOrder],
  ];

  test.each(named)('trusts a ledger in SQLite over the log, for effects %s', async (_, options) => {
    const database = openSqlite();
    const sqlite = sqliteLedger();
    const enter = (event: { key: string; handler: string }) =>
      sqlite.transaction(database, event, () => {});
    const { receiver, provided } = await sell(sqliteStore(database), enter, options);
    expect(await findings(provided, receiver)).toEqual([]);
    const ledger = { entered: (keys: readonly string[]) => sqlite.entered(database, keys) };
    expect(await findings(provided, receiver, { ledger })).toEqual(['ord_2 not_delivered']);
  });

  describe('in PostgreSQL', () => {
    test.each(named)('trusts the ledger over the log, for effects %s', async (_, options) => {
      const pool = await openPglite();
      const ledger = postgresLedger(pool);
      const enter = (event: { key: string; handler: string }) =>
        ledger.transaction(pool, event, async () => {});
      const { receiver, provided } = await sell(postgresStore(pool), enter, options);
      expect(await findings(provided, receiver)).toEqual([]);
      expect(await findings(provided, receiver, { ledger })).toEqual(['ord_2 not_delivered']);
    });
  });

  test('counts a refund as taken back after recovery has run its webhook', async () => {
    const entered: string[] = [];
    const ledger = { entered: async () => entered };
    const receiver = open(durableStore())
      .on('order:paid', ({ key }) => void entered.push(key))
      .on('order:updated', () => {});
    const refund = entry(2, { event: 'order:updated', payload: paid(1, { status: 56 }) });
    const logs = [refund, await answered(receiver, entry(1))];
    const provided = { logs, orders: [paid(1, { status: 56 })] };
    expect(await findings(provided, receiver, { ledger })).toEqual(['ord_1 not_taken_back']);
    await bringBack(provided, receiver);
    expect(await findings(provided, receiver, { ledger })).toEqual([]);
  });

  test('reports an order as delivered twice if the ledger has it under two keys', async () => {
    const database = openSqlite();
    const sqlite = sqliteLedger();
    const receiver = open(sqliteStore(database)).on('order:paid', (event) =>
      sqlite.transaction(database, event, () => {}),
    );
    const again = entry(2, { payload: paid(1, { updated_at: ago(10 * MINUTE) }) });
    const logs = [await answered(receiver, again), await answered(receiver, entry(1))];
    const ledger = { entered: (keys: readonly string[]) => sqlite.entered(database, keys) };
    const provided = { logs, orders: [paid(1)] };
    expect(await findings(provided, receiver, { ledger })).toEqual(['ord_1 delivered_twice']);
  });

  test('rejects the option `delivered` beside a ledger, and an object that is not a ledger', async () => {
    const ledger = { entered: async () => [] };
    const receiver = open(durableStore());
    const both = { ledger, delivered: () => [] };
    await expect(findings({ logs: [] }, receiver, both)).rejects.toThrow(
      /ledger has to be left out/,
    );
    const none = JSON.parse('{ "ledger": {} }');
    await expect(findings({ logs: [] }, receiver, none)).rejects.toThrow(/postgresLedger\(pool\)/);
  });
});
