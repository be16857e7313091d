import { join } from 'node:path';
import Database from 'libsql';
import {
  createReceiver,
  type IdempotencyStore,
  memoryStore,
  orderSchema,
  type PaidOptions,
  type SealedDelivery,
  type UsageError,
} from 'storefront-webhooks';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { crashPoints } from 'storefront-webhooks/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { newFolder } from '../support/folders.js';

const EVENTS = ['order:created', 'order:paid', 'order:updated'] as const;

function shop(options: PaidOptions = {}, store: IdempotencyStore = memoryStore()) {
  const ship = vi.fn();
  const onError = vi.fn();
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onError } });
  return { ship, onError, store, receiver: receiver.onPaid(ship, options) };
}

describe('a handler for paid orders', () => {
  test.each(EVENTS)('runs if %s reports the payment', async (event) => {
    const { receiver, ship } = shop();
    expect(await deliver(receiver, paidOrder(), { event })).toMatchObject({
      outcome: 'handled',
      ran: ['onPaid'],
    });
    expect(ship).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ event, handler: 'onPaid', payload: expect.any(Object) }),
    );
  });

  test.each([[EVENTS], [EVENTS.toReversed()]])(
    'runs once for an order that several events report: %j',
    async (events) => {
      const { receiver, ship } = shop();
      const outcomes: string[] = [];
      for (const event of [...events, ...events]) {
        const id = `whl_${outcomes.length}`;
        outcomes.push((await deliver(receiver, paidOrder(), { event, id })).outcome);
      }
      expect(outcomes).toEqual(['handled', ...Array(5).fill('duplicate')]);
      expect(ship).toHaveBeenCalledOnce();
    },
  );

  test('runs once for an order that all events report at the same time', async () => {
    const { receiver, ship } = shop();
    const sendUntilTaken = async (event: string) => {
      for (;;) {
        const { status, outcome } = await deliver(receiver, paidOrder(), { event, id: event });
        if (status === 200) return outcome;
      }
    };
    const outcomes = await Promise.all(EVENTS.map(sendUntilTaken));
    expect(outcomes.sort()).toEqual(['duplicate', 'duplicate', 'handled']);
    expect(ship).toHaveBeenCalledOnce();
  });

  test('does not run for an order that is not paid, and runs once it is', async () => {
    const { receiver, ship } = shop();
    for (const event of ['order:created', 'order:updated']) {
      for (const status of [0, 51, 52, 53, 54, 55, 56]) {
        const reply = await deliver(receiver, paidOrder({ status }), { event });
        expect(reply).toMatchObject({ status: 200, outcome: 'ignored', ran: [] });
      }
    }
    expect(ship).not.toHaveBeenCalled();
    await deliver(receiver, paidOrder(), { event: 'order:updated' });
    expect(ship).toHaveBeenCalledOnce();
  });

  test('follows the paidStatuses of the receiver', async () => {
    const ship = vi.fn();
    const receiver = createReceiver({ secret: SECRET, paidStatuses: [54, 'COMPLETED'] });
    receiver.onPaid(ship);
    for (const status of [100, 54, 'COMPLETED'])
      await deliver(receiver, paidOrder({ id: `ord_${status}`, status }), {
        event: 'order:updated',
      });
    expect(ship.mock.calls.map(([{ payload }]) => payload.id)).toEqual(['ord_54', 'ord_COMPLETED']);
  });

  test('runs for each order, and for the order of each shop', async () => {
    const ship = vi.fn();
    const secret = ({ url = '' }: { url?: string | undefined }) => ({ secret: SECRET, scope: url });
    const receiver = createReceiver({ secret }).onPaid(ship);
    for (const url of ['/eu', '/us'])
      for (const id of ['ord_1', 'ord_2']) await deliver(receiver, paidOrder({ id }), { url });
    expect(ship).toHaveBeenCalledTimes(4);
  });

  test('is registered among others, in a chain', async () => {
    const audit = vi.fn();
    const { receiver, ship } = shop();
    receiver
      .on('order:*', audit)
      .onPaid(audit, { name: 'receipt' })
      .onInvalid(() => {});
    const { ran } = await deliver(receiver, paidOrder());
    expect(ran).toEqual(['onPaid', 'order:*', 'receipt']);
    expect(ship).toHaveBeenCalledOnce();
    expect(audit).toHaveBeenCalledTimes(2);
  });

  test('fails and runs again until it has delivered', async () => {
    const { receiver, ship } = shop();
    ship.mockRejectedValueOnce(new Error('the mail server is down'));
    const outcomes = [];
    for (const event of EVENTS)
      outcomes.push((await deliver(receiver, paidOrder(), { event })).outcome);
    expect(outcomes).toEqual(['failed', 'handled', 'duplicate']);
  });
});

describe('the name of a handler for paid orders', () => {
  test('is onPaid for markDone and in the store, also after a restart', async () => {
    const { receiver, store, ship } = shop();
    expect(await receiver.markDone('onPaid', 'ord_1')).toBe(true);
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder({ id: 'ord_2' }));
    const later = shop({}, store);
    await deliver(later.receiver, paidOrder({ id: 'ord_2' }), { event: 'order:updated' });
    expect(ship).toHaveBeenCalledOnce();
    expect(later.ship).not.toHaveBeenCalled();
  });

  test('can be chosen, and a new name starts without any delivered orders', async () => {
    const { receiver, store } = shop();
    await deliver(receiver, paidOrder());
    const named = shop({ name: 'deliver' }, store);
    const reply = await deliver(named.receiver, paidOrder(), { event: 'order:updated' });
    expect(reply).toMatchObject({ outcome: 'handled', ran: ['deliver'] });
  });

  test.each([
    [{ formerly: 'deliver' }, 'onPaid'],
    [{ name: 'hand-out', formerly: 'deliver' }, 'hand-out'],
  ])('with %j inherits the orders that .on() has delivered', async (options, name) => {
    const store = memoryStore();
    const before = createReceiver({ secret: SECRET, store }).on('order:paid', () => {}, {
      name: 'deliver',
      oncePer: (order) => order.id,
    });
    await deliver(before, paidOrder());
    const { receiver, ship } = shop(options, store);
    for (const event of EVENTS)
      expect(await deliver(receiver, paidOrder(), { event, id: 'fresh' })).toMatchObject({
        outcome: 'duplicate',
      });
    expect(ship).not.toHaveBeenCalled();
    const reply = await deliver(receiver, paidOrder({ id: 'ord_2' }));
    expect(reply).toMatchObject({ outcome: 'handled', ran: [name] });
  });

  test('can be added later with formerly: onPaid, and delivers no order again', async () => {
    const { receiver, store } = shop();
    await deliver(receiver, paidOrder());
    const named = shop({ name: 'deliver', formerly: 'onPaid' }, store);
    await deliver(named.receiver, paidOrder(), { event: 'order:updated' });
    expect(named.ship).not.toHaveBeenCalled();
  });
});

test('a transaction on SQLite commits the sale of a paid order once, whichever event reports it', async () => {
  const database = new Database(join(newFolder(), 'shop.db'));
  onTestFinished(() => void database.close());
  database.exec('CREATE TABLE sale (order_id TEXT)');
  let fails = true;
  const receiver = createReceiver({
    secret: SECRET,
    store: sqliteStore(database),
    hooks: { onError() {} },
  }).onPaid(
    ({ payload: order, tx }) => {
      tx.prepare('INSERT INTO sale VALUES (?)').run(order.id);
      if (fails) throw new Error('it fails after the statement');
    },
    { transaction: true },
  );
  const sales = () => database.prepare('SELECT order_id FROM sale').all();
  expect((await deliver(receiver, paidOrder())).outcome).toBe('failed');
  expect(sales()).toEqual([]);
  fails = false;
  const outcomes = [];
  for (const event of ['order:updated', 'order:paid'])
    outcomes.push((await deliver(receiver, paidOrder(), { event })).outcome);
  expect(outcomes).toEqual(['handled', 'duplicate']);
  expect(sales()).toEqual([{ order_id: 'ord_1' }]);
});

test('a queue, its worker and a redrive deliver a paid order once, whichever events report it', async () => {
  const ship = vi.fn().mockRejectedValueOnce(new Error('no licence is left'));
  const store = durableStore();
  const jobs: SealedDelivery[] = [];
  const queue = {
    durable: true,
    enqueue: async (job: SealedDelivery) => ({ id: `${jobs.push(job)}` }),
  } as const;
  const settings = { secret: SECRET, store, queue, hooks: { onError() {} } };
  const receiver = createReceiver(settings).onPaid(ship);
  for (const event of ['order:paid', 'order:updated', 'order:paid'])
    await deliver(receiver, paidOrder(), { event, id: `whl_${jobs.length}` });
  await deliver(receiver, paidOrder({ status: 0 }), { event: 'order:created' });
  const outcomes: string[] = [];
  for (const job of jobs)
    outcomes.push((await receiver.dispatch(job, { lastAttempt: true })).outcome);
  expect(outcomes).toEqual(['parked', 'handled', 'duplicate', 'ignored']);
  // The effect of the order is done, so the dead delivery has nothing left to do.
  const dead = await store.list({ state: 'dead', limit: 9 });
  expect(dead).toHaveLength(1);
  for (const one of dead) expect((await receiver.redrive(one)).outcome).toBe('duplicate');
  expect(await store.list({ state: 'dead', limit: 9 })).toEqual([]);
  expect(ship).toHaveBeenCalledTimes(2);
});

test('crashPoints finds what a handler for paid orders would repeat', async () => {
  const observe = { mail: async () => {}, book: async () => {} };
  const { findings } = await crashPoints(
    (store, { mail, book }: typeof observe) =>
      createReceiver({ secret: SECRET, store }).onPaid(async () => {
        await mail();
        await book();
      }),
    'order:paid',
    { observe },
  );
  expect(findings).toMatchObject([{ effect: 'mail', problem: 'twice' }]);
});

describe('.onPaid() with a mistake', () => {
  /** Calls it as JavaScript does. */
  function thrownBy(...args: unknown[]): UsageError {
    const { receiver } = shop({ name: 'first' });
    try {
      Reflect.apply(receiver.onPaid, receiver, args);
    } catch (error) {
      return error as UsageError;
    }
    throw new Error('expected an error');
  }
  const ship = () => {};

  test('rejects a second handler without a name, with the advice to add one', () => {
    const { receiver } = shop();
    expect(() => receiver.onPaid(ship)).toThrow(
      expect.objectContaining({
        code: 'handler_duplicate',
        message: expect.stringContaining("another name: .onPaid(handler, { name: 'other' })."),
      }),
    );
    expect(() => receiver.onPaid(ship, { name: 'mail' })).not.toThrow();
    expect(() => receiver.on('order:paid', ship, { name: 'onPaid' })).toThrow(
      expect.objectContaining({ code: 'handler_duplicate' }),
    );
  });

  test.each([
    [{ when: () => true }, 'no option when. The handler runs once for each paid order'],
    [{ oncePer: () => 'a' }, 'for another condition or key, use .on()'],
    [{ skipOlder: true }, 'no option skipOlder. The handler runs once'],
    [{ transactoin: true }, 'Did you mean "transaction"?'],
    [{ retries: 1 }, 'no option retries. The options are name, formerly, transaction.'],
    [{ name: '' }, 'The name of a handler has to be a single text'],
    [{ formerly: 7 }, 'The formerly of a handler has to be a single text'],
    [{ transaction: true }, 'true needs postgresStore(pool)'],
    [null, 'options, not null'],
    ['deliver', 'options, not string'],
  ])('rejects the options %j immediately', (options, said) => {
    const { code, message } = thrownBy(ship, options);
    expect(code).toBe('handler_invalid');
    expect(message).toContain(said);
  });

  test.each([[[]], [['order:paid', ship]], [[{ name: 'deliver' }, ship]]])(
    'rejects the arguments %o, and shows how to call it',
    (args) => {
      const { code, message } = thrownBy(...args);
      expect(code).toBe('handler_invalid');
      expect(message).toContain('.onPaid(({ payload }) => deliver(payload))');
    },
  );

  test('rejects a handler after the first delivery', async () => {
    const { receiver } = shop();
    await deliver(receiver, paidOrder());
    expect(() => receiver.onPaid(ship, { name: 'late' })).toThrow(
      expect.objectContaining({ code: 'registered_late' }),
    );
  });

  test.each([
    ['the status', { id: 'ord_1', email: 'buyer@example.com' }],
    ['the id as a text', { id: 1, status: 100 }],
  ])('fails a delivery whose schema drops %s, so that no order is lost', async (_, value) => {
    const onError = vi.fn();
    const { '~standard': standard } = orderSchema;
    const lossy = { '~standard': { ...standard, vendor: 'own', validate: () => ({ value }) } };
    const events: Record<string, typeof lossy> = { 'order:paid': lossy };
    const receiver = createReceiver({ secret: SECRET, events, hooks: { onError } });
    Reflect.apply(receiver.onPaid, receiver, [ship]);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      code: 'handler_invalid',
      message: expect.stringContaining('Keep both in your schemas'),
    });
  });
});
