import Database from 'libsql';
import { type Confirm, createReceiver, type WebhookRequest } from 'storefront-webhooks';
import { type D1Batch, d1Store } from 'storefront-webhooks/cloudflare';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';
import { gate } from '../../support/gate.js';
import { describeTransactions, TABLE } from '../transactions.js';
import { D1OverLibsql, EXPIRE } from './over-libsql.js';

function openDatabase() {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  database.exec(TABLE);
  return { database, d1: new D1OverLibsql(database) };
}

describeTransactions<D1Batch>(
  'D1',
  async () => {
    const { database, d1 } = openDatabase();
    return {
      store: d1Store(d1),
      other: d1Store(d1),
      run: (tx, statement) => tx.add(d1.prepare(statement)),
      exec: async (statements) => database.exec(statements),
      sold: async () => database.prepare('SELECT * FROM sold').all().length,
    };
  },
  { expire: EXPIRE },
);

describe('a batch of D1', () => {
  const ONCE = { name: 'sell', transaction: true } as const;

  function openShop() {
    const { database, d1 } = openDatabase();
    const errors: unknown[] = [];
    const hooks = { onError: (error: unknown) => void errors.push(error), onRejected() {} };
    const store = d1Store(d1);
    const receiver = (options: { timeout?: number; confirm?: Confirm } = {}) =>
      createReceiver({ secret: SECRET, store, hooks, ...options });
    const insert = (id: string) => d1.prepare('INSERT INTO sold VALUES (?)').bind(id);
    const selling = () => receiver().onPaid(({ payload, tx }) => tx.add(insert(payload.id)), ONCE);
    const sold = () => database.prepare('SELECT order_id FROM sold').all().length;
    return { database, d1, store, errors, receiver, insert, selling, sold };
  }

  /** Dispatches a delivery as the last attempt of a queue, which must end so, before it is received again. */
  function lastTry(shop: ReturnType<typeof createReceiver>, outcome: 'unavailable' | 'parked') {
    return {
      receive: async (request: WebhookRequest) => {
        const verified = await shop.verify(request);
        if (verified.outcome) throw new Error('It is rejected.');
        expect(await shop.dispatch(verified, { lastAttempt: true })).toMatchObject({ outcome });
        return shop.receive(request);
      },
    };
  }

  test('runs the statements in the order in which the handler adds them', async () => {
    const { database, d1, receiver, insert } = openShop();
    const shop = receiver().onPaid(async ({ payload, tx }) => {
      tx.add(insert('first'), insert('second'));
      await new Promise((resolve) => setTimeout(resolve, 1));
      tx.add(insert(payload.id), d1.prepare("DELETE FROM sold WHERE order_id = 'first'"));
    }, ONCE);
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
    const rows = database.prepare('SELECT order_id FROM sold').all();
    expect(rows).toEqual([{ order_id: 'second' }, { order_id: 'ord_1' }]);
  });

  test('waits for each promise in an array that the handler returns', async () => {
    const { receiver, insert, sold } = openShop();
    const shop = receiver().onPaid(
      ({ tx }) =>
        ['first', 'second'].map(async (id) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          tx.add(insert(id));
        }),
      ONCE,
    );
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(sold()).toBe(2);
  });

  test('is prepared under a lease that is renewed, because nothing else holds the delivery yet', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { store, receiver, insert, sold } = openShop();
    const renew = vi.spyOn(store, 'renew');
    const asked = gate();
    const shop = receiver()
      .onPaid(async ({ payload, tx }) => {
        await asked.opened;
        tx.add(insert(payload.id));
      }, ONCE)
      .on('order:paid', () => {}, { name: 'mail' });
    const delivering = deliver(shop, paidOrder());
    await vi.advanceTimersByTimeAsync(12_500);
    expect(renew).toHaveBeenCalledTimes(4);
    asked.open();
    expect(await delivering).toMatchObject({ outcome: 'handled', ran: ['sell', 'mail'] });
    expect(sold()).toBe(1);
  });

  test('whose answer takes longer than a renewal is not taken for lost', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { d1, store, receiver, insert, errors } = openShop();
    const renew = vi.spyOn(store, 'renew');
    const asked = gate();
    const confirm = async () => ({ state: 'agreed', kept: false }) as const;
    const shop = receiver({ confirm }).onPaid(async ({ payload, tx }) => {
      await asked.opened;
      tx.add(insert(payload.id));
      d1.hooks.after = () => new Promise((resolve) => setTimeout(resolve, 4_000));
    }, ONCE);
    const delivering = deliver(shop, paidOrder());
    await vi.advanceTimersByTimeAsync(2_500);
    asked.open();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await delivering).toMatchObject({ outcome: 'handled', ran: ['sell'] });
    expect([renew.mock.calls.length, errors]).toEqual([0, []]);
  });

  test('whose last statement fails changes nothing, and the provider retries', async () => {
    const { database, d1, receiver, insert, sold, errors } = openShop();
    database.exec('CREATE TABLE stock (n INTEGER CHECK (n >= 0)); INSERT INTO stock VALUES (0)');
    const take = d1.prepare('UPDATE stock SET n = n - 1');
    const shop = receiver().onPaid(({ payload, tx }) => tx.add(insert(payload.id), take), ONCE);
    expect(await deliver(shop, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    expect([sold(), `${errors[0]}`]).toEqual([0, expect.stringContaining('CHECK')]);
    database.exec('UPDATE stock SET n = 1');
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(sold()).toBe(1);
  });

  test.each([
    ['that is the only handler', false],
    ['beside another handler', true],
  ])('that was committed although its answer was lost counts as done: %s', async (_, isBeside) => {
    const { d1, selling, sold, errors } = openShop();
    const shop = selling();
    const mail = vi.fn();
    if (isBeside) shop.on('order:paid', mail, { name: 'mail' });
    d1.hooks.after = () => {
      d1.hooks.after = () => {};
      throw new Error('D1_ERROR: Network connection lost.');
    };
    expect(await deliver(shop, paidOrder())).toMatchObject({ status: 200, outcome: 'handled' });
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'duplicate' });
    expect([sold(), errors, mail.mock.calls.length]).toEqual([1, [], isBeside ? 1 : 0]);
  });

  test('of which nothing is known is answered 503, and the retry finds out', async () => {
    const { database, d1, selling, sold } = openShop();
    const shop = selling();
    d1.hooks.after = () => {
      d1.hooks.after = () => {};
      const prepare = d1.prepare.bind(d1);
      d1.prepare = () => {
        d1.prepare = prepare;
        throw new Error('D1_ERROR: Network connection lost.');
      };
      throw new Error('D1_ERROR: Network connection lost.');
    };
    expect(await deliver(shop, paidOrder())).toMatchObject({ status: 503 });
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'duplicate' });
    expect(sold()).toBe(1);
    expect(database.prepare(`SELECT state FROM webhook_delivery`).all()).toEqual([
      { state: 'done' },
      { state: 'done' },
    ]);
  });

  test.each([
    'D1 DB is overloaded. Requests queued for too long.',
    'D1 DB is overloaded. Too many requests queued.',
    'Network connection lost.',
    "Can't read from request stream because client disconnected.",
    'D1 DB reset because its code was updated.',
    "The Durable Object's code has been updated, this version can no longer access storage.",
    'Internal error in D1 DB storage caused object to be reset.',
    'Internal error while starting up D1 DB storage caused object to be reset.',
    'Cannot resolve D1 DB due to transient issue on remote node.',
    'D1 DB storage operation exceeded timeout which caused object to be reset.',
    "D1 DB's isolate exceeded its memory limit and was reset.",
    'D1 DB exceeded its CPU time limit and was reset.',
    'Exceeded maximum DB size',
    'Exceeded maximum account storage limit',
    'Too many API requests by single Worker invocation.',
  ])('that D1 cannot run for a moment is answered 503, and never dead: %s', async (why) => {
    const { d1, store, selling, sold, errors } = openShop();
    const shop = selling();
    d1.hooks.before = () => {
      throw new Error(`D1_ERROR: ${why}`);
    };
    expect(await deliver(lastTry(shop, 'unavailable'), paidOrder())).toMatchObject({ status: 503 });
    expect(await store.count({ state: 'dead' })).toBe(0);
    expect(errors).toMatchObject([{ code: 'store_unavailable' }, { code: 'store_unavailable' }]);
    d1.hooks.before = () => {};
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(sold()).toBe(1);
  });

  test.each([
    'UNIQUE constraint failed: sold.order_id: SQLITE_CONSTRAINT',
    // A trigger words the error of RAISE itself.
    'the carrier is overloaded: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_TRIGGER)',
    'no such column: internal error at offset 7: SQLITE_ERROR',
  ])('that fails because of a statement is dead after its last attempt: %s', async (why) => {
    const { d1, store, selling } = openShop();
    const shop = selling();
    d1.hooks.before = () => {
      throw new Error(`D1_ERROR: ${why}`);
    };
    expect(await deliver(lastTry(shop, 'parked'), paidOrder())).toMatchObject({ status: 200 });
    expect(await store.count({ state: 'dead' })).toBe(1);
  });

  describe('on a D1 that does not answer', () => {
    const isLook = (query: string) => query.includes('AS effect');

    function openSilent() {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const opened = openShop();
      const shop = opened.selling();
      const silent = gate();
      /** Delivers until the time limit of D1 is over, and returns the result. */
      const deliverSlowly = async () => {
        const delivering = deliver(shop, paidOrder());
        await vi.advanceTimersByTimeAsync(10_500);
        return delivering;
      };
      return { ...opened, shop, silent, deliverSlowly };
    }

    const message = expect.stringContaining('D1 did not answer within 10000 ms.');
    const SILENT = { code: 'store_unavailable', cause: { code: 'timed_out', message } };

    test('is not made if the look hangs, which is answered 503 and names D1', async () => {
      const { d1, shop, errors, deliverSlowly, sold } = openSilent();
      d1.hooks.statement = (query) => (isLook(query) ? new Promise(() => {}) : undefined);
      expect(await deliverSlowly()).toMatchObject({ status: 503, outcome: 'unavailable' });
      expect(errors).toMatchObject([SILENT]);
      d1.hooks.statement = () => {};
      expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
      expect(sold()).toBe(1);
    });

    test('counts as done if the look after the time limit finds its record', async () => {
      const { d1, shop, errors, deliverSlowly, sold } = openSilent();
      d1.hooks.after = () => new Promise(() => {});
      expect(await deliverSlowly()).toMatchObject({ status: 200, outcome: 'handled' });
      expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'duplicate' });
      expect([sold(), errors]).toEqual([1, []]);
    });

    test('changes nothing if it arrives after the delivery was answered 503', async () => {
      const { d1, shop, errors, silent, deliverSlowly, sold } = openSilent();
      const refused = gate();
      const batch = d1.batch.bind(d1);
      d1.batch = (statements) => batch(statements).finally(refused.open);
      d1.hooks.before = () => silent.opened;
      expect(await deliverSlowly()).toMatchObject({ status: 503, outcome: 'unavailable' });
      expect(errors).toMatchObject([SILENT]);
      silent.open();
      await refused.opened;
      expect(sold()).toBe(0);
      expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
      expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'duplicate' });
      expect(sold()).toBe(1);
    });

    test('is found by the next attempt if it commits after the time limit', async () => {
      const { d1, shop, errors, silent, sold } = openSilent();
      d1.hooks.before = () => silent.opened;
      let looks = 0;
      d1.hooks.statement = (query) =>
        isLook(query) && ++looks === 2 ? new Promise(() => {}) : undefined;
      const delivering = deliver(shop, paidOrder());
      await vi.advanceTimersByTimeAsync(15_000);
      expect([looks, sold()]).toEqual([2, 0]);
      silent.open();
      await vi.advanceTimersByTimeAsync(5_500);
      expect([await delivering, sold()]).toMatchObject([{ status: 503 }, 1]);
      expect(errors).toMatchObject([SILENT, { code: 'lease_lost' }]);
      expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'duplicate' });
      expect(sold()).toBe(1);
    });
  });

  test('of a handler that has lost its lease changes nothing', async () => {
    const { database, d1, selling, sold, errors } = openShop();
    const shop = selling();
    d1.hooks.before = () => {
      database.exec("UPDATE webhook_delivery SET fence = fence + 1 WHERE state = 'leased'");
      d1.hooks.before = () => {};
    };
    expect(await deliver(shop, paidOrder())).toMatchObject({ status: 503, outcome: 'busy' });
    expect(sold()).toBe(0);
    expect(errors).toMatchObject([{ code: 'lease_lost' }]);
  });

  test('of a handler that has exceeded the time limit is not run', async () => {
    const { receiver, insert, sold } = openShop();
    const ended = gate();
    const shop = receiver({ timeout: 20 }).onPaid(async ({ payload, tx }) => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      tx.add(insert(payload.id));
      setTimeout(ended.open);
    }, ONCE);
    expect(await deliver(shop, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    await ended.opened;
    expect(sold()).toBe(0);
  });

  test('is not made for an order that was delivered', async () => {
    const { receiver, insert, sold } = openShop();
    const sell = vi.fn(({ payload, tx }) => tx.add(insert(payload.id)));
    const shop = receiver().onPaid(sell, ONCE);
    await deliver(shop, paidOrder(), { id: 'whl_1' });
    await deliver(shop, paidOrder(), { id: 'whl_2' });
    expect([sold(), sell.mock.calls.length]).toEqual([1, 1]);
  });

  test('whose effect another delivery finishes meanwhile changes nothing more', async () => {
    const { d1, selling, sold } = openShop();
    const shop = selling();
    d1.hooks.before = async () => {
      d1.hooks.before = () => {};
      expect(await deliver(shop, paidOrder(), { id: 'whl_2' })).toMatchObject({
        outcome: 'handled',
      });
    };
    expect(await deliver(shop, paidOrder(), { id: 'whl_1' })).toMatchObject({
      outcome: 'duplicate',
    });
    expect(sold()).toBe(1);
  });

  test.each([
    ['that is the only handler', false],
    ['beside another handler', true],
  ])(
    'is not needed if the handler fails because the effect is done by now: %s',
    async (_, isBeside) => {
      const { d1, receiver, insert, selling, sold, errors } = openShop();
      const mail = vi.fn();
      const shop = receiver().onPaid(async ({ payload, tx }) => {
        await deliver(selling(), paidOrder(), { id: 'whl_2' });
        const { results } = await d1.prepare('SELECT 1 FROM sold').all();
        if (results.length > 0) throw new Error('No licence is left.');
        tx.add(insert(payload.id));
      }, ONCE);
      if (isBeside) shop.on('order:paid', mail, { name: 'mail' });
      expect(await deliver(shop, paidOrder())).toMatchObject({ status: 200 });
      expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'duplicate' });
      expect([sold(), errors, mail.mock.calls.length]).toEqual([1, [], isBeside ? 1 : 0]);
    },
  );

  test('is not made if the handler fails while nothing has done the effect', async () => {
    const { receiver, insert, sold, errors } = openShop();
    const shop = receiver().onPaid(({ payload, tx }) => {
      tx.add(insert(payload.id));
      throw new Error('No licence is left.');
    }, ONCE);
    expect(await deliver(shop, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    expect([sold(), errors]).toEqual([0, [new Error('No licence is left.')]]);
  });

  test('whose effect a handler without a transaction begins meanwhile changes nothing', async () => {
    const { d1, receiver, selling, sold } = openShop();
    const shop = selling();
    const begun = gate();
    const plain = receiver().onPaid(() => new Promise(() => begun.open()), { name: 'sell' });
    d1.hooks.before = async () => {
      d1.hooks.before = () => {};
      void deliver(plain, paidOrder(), { id: 'whl_2' });
      await begun.opened;
    };
    expect(await deliver(shop, paidOrder(), { id: 'whl_1' })).toMatchObject({ outcome: 'busy' });
    expect(sold()).toBe(0);
  });

  test('waits for a handler without a transaction that has the effect', async () => {
    const { d1, receiver, selling, sold } = openShop();
    const plain = receiver().onPaid(() => new Promise(() => {}), { name: 'sell' });
    void deliver(plain, paidOrder(), { id: 'whl_1' });
    await vi.waitFor(async () => {
      const { results } = await d1.prepare('SELECT 1 FROM webhook_delivery').all();
      expect(results).toHaveLength(2);
    });
    expect(await deliver(selling(), paidOrder(), { id: 'whl_2' })).toMatchObject({
      outcome: 'busy',
    });
    expect(sold()).toBe(0);
  });

  test('takes no statement after its handler has ended', async () => {
    const { receiver, insert, sold } = openShop();
    let late: D1Batch | undefined;
    const shop = receiver().onPaid(({ tx }) => {
      late = tx;
    }, ONCE);
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(() => late?.add(insert('late'))).toThrow(
      expect.objectContaining({ code: 'transaction_missing' }),
    );
    expect(sold()).toBe(0);
  });

  test('also purges old deliveries, once a minute', async () => {
    const { database, selling } = openShop();
    const shop = selling();
    await deliver(shop, paidOrder({ id: 'ord_0' }), { id: 'whl_0' });
    database.exec('UPDATE webhook_delivery SET purge_at = 1 WHERE purge_at IS NOT NULL');
    const count = () => database.prepare('SELECT * FROM webhook_delivery').all().length;
    await deliver(shop, paidOrder({ id: 'ord_1' }), { id: 'whl_1' });
    expect(count()).toBe(4);
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: now + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    await deliver(shop, paidOrder({ id: 'ord_2' }), { id: 'whl_2' });
    expect(count()).toBe(5);
  });

  test('cannot skip older states', () => {
    const { receiver } = openShop();
    const both = { name: 'sell', skipOlder: true, transaction: true } as const;
    expect(() => receiver().on('order:paid', () => {}, both)).toThrow(
      expect.objectContaining({ code: 'handler_invalid' }),
    );
  });
});
