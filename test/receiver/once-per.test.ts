import {
  createReceiver,
  type Handler,
  type IdempotencyStore,
  memoryStore,
  type Order,
  type Receiver,
  type WebhookEvent,
} from 'storefront-webhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

const hooks = { onError() {}, onRejected() {} };

function shop(store = memoryStore(), scope = '') {
  const ship = vi.fn(async () => {});
  const receiver = createReceiver({ secret: SECRET, store, scope, hooks })
    .on('order:paid', ship, { name: 'order:paid', oncePer: (order) => order.id })
    .on('order:updated', () => {});
  return { ship, receiver };
}

test('a handler gets its name, and the key of its delivery or of its effect', async () => {
  const seen: Record<string, string[]> = {};
  const note = ({ handler, key }: { handler: string; key: string }) => {
    seen[handler] = [...(seen[handler] ?? []), key];
  };
  const failing = { count: 1 };
  const receiver = createReceiver({ secret: SECRET, hooks })
    .on('order:paid', note, { name: 'order:paid', oncePer: (order) => order.id })
    .on('order:*', note)
    .on('*', (event) => {
      note(event);
      if (failing.count-- > 0) throw new Error('it fails');
    });
  await deliver(receiver, paidOrder());
  await deliver(receiver, paidOrder());
  const [effect = ''] = seen['order:paid'] ?? [];
  const [delivery = ''] = seen['order:*'] ?? [];
  expect(effect).toMatch(/^[0-9a-f]{64}$/);
  expect(delivery).toMatch(/^[0-9a-f]{64}$/);
  expect(delivery).not.toBe(effect);
  // Every handler without oncePer gets the key of the delivery, also in the next attempt.
  expect(seen).toEqual({
    'order:paid': [effect],
    'order:*': [delivery],
    '*': [delivery, delivery],
  });
});

describe('an effect is remembered for ever, unlike a delivery', () => {
  const DAYS = 24 * 60 * 60 * 1000;
  test.each<[string, (receiver: Receiver, ship: () => void) => void]>([
    [
      'oncePer',
      (on, ship) => on.on('order:paid', ship, { name: 'deliver', oncePer: ({ id }) => id }),
    ],
    ['onPaid', (on, ship) => on.onPaid(ship)],
    ['markDone', (on, ship) => on.onPaid(ship, { name: 'deliver' })],
    ['skipOlder', (on, ship) => on.on('order:paid', ship, { skipOlder: true })],
  ])('with %s', async (how, register) => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const receiver = createReceiver({ secret: SECRET, keepDays: 7, hooks });
    const ship = vi.fn();
    register(receiver, ship);
    if (how === 'markDone') await receiver.markDone('deliver', 'ord_1');
    else await deliver(receiver, paidOrder({ updated_at: '2026-01-03T00:00:00Z' }));
    const before = ship.mock.calls.length;
    vi.advanceTimersByTime(365 * DAYS);
    await deliver(receiver, paidOrder({ updated_at: '2026-01-02T00:00:00Z' }), { id: 'whl_2' });
    expect(ship).toHaveBeenCalledTimes(before);
    await deliver(receiver, paidOrder({ id: 'ord_2' }), { id: 'whl_3' });
    expect(ship).toHaveBeenCalledTimes(before + 1);
  });
});

describe('oncePer', () => {
  test('runs the handler once for two ids', async () => {
    const { ship, receiver } = shop();
    expect(await deliver(receiver, paidOrder(), { id: 'whl_1' })).toMatchObject({
      outcome: 'handled',
    });
    expect(await deliver(receiver, paidOrder(), { id: 'whl_2' })).toMatchObject({
      status: 200,
      outcome: 'duplicate',
      ran: [],
    });
    expect(ship).toHaveBeenCalledOnce();
  });

  test('runs the handler once for two states of the same order', async () => {
    const { ship, receiver } = shop();
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder({ updated_at: '2026-11-21T00:00:00Z' }), { id: 'whl_2' });
    expect(ship).toHaveBeenCalledOnce();
  });

  test('runs the handler once for any of its events', async () => {
    const orders = ['order:paid', 'order:updated'] as const;
    for (const events of [orders, orders.toReversed()]) {
      const ship = vi.fn();
      const receiver = createReceiver({ secret: SECRET, hooks }).on(orders, ship, {
        name: 'deliver',
        oncePer: (order) => order.id,
      });
      const outcomes = [];
      for (const event of events)
        outcomes.push((await deliver(receiver, paidOrder(), { event })).outcome);
      expect(outcomes).toEqual(['handled', 'duplicate']);
      expect(ship).toHaveBeenCalledOnce();
    }
  });

  test('keeps its completed work when another event is added', async () => {
    const store = memoryStore();
    const options = { name: 'deliver', oncePer: (order: Order) => order.id };
    const ship = vi.fn();
    const one = createReceiver({ secret: SECRET, store }).on('order:paid', ship, options);
    await deliver(one, paidOrder());
    const events = ['order:paid', 'order:updated'] as const;
    const both = createReceiver({ secret: SECRET, store }).on(events, ship, options);
    expect(await deliver(both, paidOrder(), { event: 'order:updated' })).toMatchObject({
      outcome: 'duplicate',
    });
    expect(ship).toHaveBeenCalledOnce();
  });

  test('runs the handler for another order', async () => {
    const { ship, receiver } = shop();
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder({ id: 'ord_2' }), { id: 'whl_2' });
    expect(ship).toHaveBeenCalledTimes(2);
  });

  test('runs the handler once for forty ids at the same time', async () => {
    const { ship, receiver } = shop();
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, i) => deliver(receiver, paidOrder(), { id: `whl_${i}` })),
    );
    expect(ship).toHaveBeenCalledOnce();
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    expect(replies.filter(({ outcome }) => outcome === 'handled')).toHaveLength(1);
  });

  test('runs the handler again under any id after an error', async () => {
    const { ship, receiver } = shop();
    ship.mockRejectedValueOnce(new Error('no'));
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    expect(await deliver(receiver, paidOrder(), { id: 'whl_2' })).toMatchObject({
      outcome: 'handled',
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
    expect(ship).toHaveBeenCalledTimes(2);
  });

  test('answers busy while another process runs the handler, without counting an attempt', async () => {
    skipWaits();
    const store = memoryStore();
    let finish = () => {};
    const running = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const there = shop(store);
    there.ship.mockReturnValueOnce(running);
    const here = shop(store);
    const first = deliver(there.receiver, paidOrder());
    expect(await deliver(here.receiver, paidOrder(), { id: 'whl_2' })).toMatchObject({
      status: 503,
      outcome: 'busy',
    });
    finish();
    expect(await first).toMatchObject({ outcome: 'handled' });
    expect(await deliver(here.receiver, paidOrder(), { id: 'whl_2' })).toMatchObject({
      outcome: 'duplicate',
    });
    expect(here.ship).not.toHaveBeenCalled();
  });

  test('keeps two scopes on one store apart', async () => {
    const store = memoryStore();
    const one = shop(store, 'one');
    const two = shop(store, 'two');
    await deliver(one.receiver, paidOrder());
    await deliver(two.receiver, paidOrder());
    expect(one.ship).toHaveBeenCalledOnce();
    expect(two.ship).toHaveBeenCalledOnce();
  });

  test('keeps the steps of an interrupted effect for the next delivery that runs it', async () => {
    const charge = vi.fn(() => 'receipt');
    const mail = vi.fn().mockRejectedValueOnce(new Error('no'));
    const receiver = createReceiver({ secret: SECRET, hooks }).on(
      'order:paid',
      async ({ once }) => {
        await once('charge', charge);
        await mail();
      },
      { name: 'order:paid', oncePer: (order) => order.id },
    );
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder(), { id: 'whl_2' });
    expect(charge).toHaveBeenCalledOnce();
    expect(mail).toHaveBeenCalledTimes(2);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['gives an empty string', () => ''],
  ])('fails the delivery if it %s', async (_, oncePer) => {
    const handler = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', handler, {
      name: 'order:paid',
      oncePer,
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    expect(handler).not.toHaveBeenCalled();
  });
});

test('an oncePer that returns a promise fails only its delivery', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const onError = vi.fn();
  const receiver = createReceiver({ secret: SECRET, hooks: { onError } });
  const oncePer = async () => Promise.reject(new Error('no gift'));
  receiver.on('order:paid', () => {}, {
    name: 'order:paid',
    oncePer: oncePer as unknown as () => string,
  });
  expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500 });
  expect(onError.mock.calls[0]?.[0]).toMatchObject({
    code: 'key_invalid',
    message: expect.stringContaining('not a promise'),
  });
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(unhandled).not.toHaveBeenCalled();
  process.off('unhandledRejection', unhandled);
});

test('a handler that modifies its payload changes no key and no other payload', async () => {
  const receiver = createReceiver({ secret: SECRET });
  const seen: unknown[] = [];
  receiver
    .on('order:*', ({ payload }) => {
      payload.id = 'changed';
      Object.assign(payload.custom ?? {}, { gift: 'changed' });
    })
    .on('order:paid', ({ payload }) => void seen.push(payload.id, payload.custom), {
      name: 'order:paid',
      oncePer: (order) => order.id,
    })
    .on('*', ({ payload }) => void seen.push(payload.id, payload.custom), { name: 'audit' });
  const order = paidOrder({ custom: { gift: { for: ['a friend'] }, __proto__: null } });
  await deliver(receiver, order);
  const ofOrder = ['ord_1', { gift: { for: ['a friend'] } }];
  expect(seen).toEqual([...ofOrder, ...ofOrder]);
  expect(await deliver(receiver, order, { id: 'fresh' })).toMatchObject({
    ran: ['order:*', 'audit'],
  });
});

test('a payload may be nested deeper than the stack, for several handlers', async () => {
  const receiver = createReceiver({ secret: SECRET }).on('*', () => {});
  receiver.on('query:created', () => {}, { name: 'second' });
  const text = `{"id":"a","deep":${'['.repeat(40_000)}${']'.repeat(40_000)}}`;
  const reply = await deliver(receiver, text, { event: 'query:created' });
  expect(reply).toMatchObject({ outcome: 'handled', ran: ['*', 'second'] });
});

test('a handler that modifies its bytes does not change the stored ones', async () => {
  const store = memoryStore();
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onError() {} } });
  receiver.on('order:paid', ({ rawBody }) => {
    rawBody.fill(0);
    throw new Error('no');
  });
  const seen: number[] = [];
  receiver.on('order:*', ({ rawBody }) => void seen.push(rawBody[0] ?? 0));
  await deliver(receiver, paidOrder());
  expect(seen).toEqual(['{'.charCodeAt(0)]);
  const [kept] = await store.list({ state: 'failing', limit: 9 });
  expect(kept).toMatchObject({ orderId: 'ord_1', email: 'buyer@example.com' });
});

test("a very long id of the sender cannot become an effect's permanent key", async () => {
  const store = memoryStore();
  const claim = vi.spyOn(store, 'claim');
  await deliver(shop(store).receiver, paidOrder(), { id: 'x'.repeat(15_000) });
  for (const [{ id }] of claim.mock.calls) expect(id.length).toBeLessThanOrEqual(200);
  expect(claim).toHaveBeenCalledTimes(2);
});

describe('a renamed handler', () => {
  const formerly = (store: IdempotencyStore, deliver: Handler<WebhookEvent<'order:paid', Order>>) =>
    createReceiver({ secret: SECRET, store })
      .on('order:paid', deliver, { name: 'new', formerly: 'old', oncePer: (order) => order.id })
      .on('order:paid', () => {}, { name: 'other' });

  test('does not repeat the work of its former name', async () => {
    const store = memoryStore();
    const first = createReceiver({ secret: SECRET, store }).on('order:paid', () => {}, {
      name: 'old',
      oncePer: (order) => order.id,
    });
    await deliver(first, paidOrder());
    const again = vi.fn();
    const reply = await deliver(formerly(store, again), paidOrder(), { id: 'a fresh id' });
    expect(reply).toMatchObject({ outcome: 'handled', ran: ['other'] });
    expect(again).not.toHaveBeenCalled();
  });

  test('resumes a half-done delivery, with the steps of its former name', async () => {
    const store = memoryStore();
    const step = vi.fn();
    const half = createReceiver({ secret: SECRET, store, hooks: { onError() {} } })
      .on(
        'order:paid',
        async ({ once }) => {
          await once('mail', step);
          throw new Error('not yet');
        },
        { name: 'steps' },
      )
      .on('order:paid', () => {}, { name: 'old' });
    expect(await deliver(half, paidOrder())).toMatchObject({ outcome: 'failed' });
    const again = vi.fn();
    const renamed = createReceiver({ secret: SECRET, store })
      .on('order:paid', async ({ once }) => once('mail', step), { name: 'all', formerly: 'steps' })
      .on('order:paid', again, { name: 'new', formerly: 'old' });
    expect(await deliver(renamed, paidOrder())).toMatchObject({ outcome: 'handled', ran: ['all'] });
    expect(step).toHaveBeenCalledOnce();
    expect(again).not.toHaveBeenCalled();
  });

  test('has the entries of its former name in a ledger', async () => {
    const seen = vi.fn();
    const receiver = formerly(memoryStore(), ({ handler }) => seen(handler));
    await deliver(receiver, paidOrder());
    expect(seen).toHaveBeenCalledExactlyOnceWith('old');
  });

  test('prevents another handler from taking its former name', () => {
    expect(() =>
      formerly(memoryStore(), () => {}).on('order:paid', () => {}, { name: 'old' }),
    ).toThrow(expect.objectContaining({ code: 'handler_duplicate' }));
  });
});
