import {
  createReceiver,
  type IdempotencyStore,
  isPaid,
  memoryStore,
  type ReceiverOptions,
  UsageError,
} from 'storefront-webhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { gate } from '../support/gate.js';

function shop(options: Partial<Omit<ReceiverOptions, 'events'>> = {}) {
  const ship = vi.fn();
  const receiver = createReceiver({ secret: SECRET, hooks: { onError() {} }, ...options })
    .on(['order:paid', 'order:updated'], ship, {
      name: 'deliver',
      when: isPaid,
      oncePer: (order) => order.id,
    })
    .on('order:paid', () => {}, { name: 'audit' });
  return { ship, receiver };
}

/** A store that fails at a number of calls of one verb. */
function failing(verb: 'claim' | 'complete', times: number): IdempotencyStore {
  const store = memoryStore();
  let left = times;
  return forward(store, {
    [verb]: async (...args: never[]) => {
      if (left-- > 0) throw new Error('it is down');
      return Reflect.apply(store[verb], store, args);
    },
  });
}

describe('an order that is marked as done', () => {
  test('is not delivered by any of its events, and the first mark returns true', async () => {
    const { receiver, ship } = shop();
    expect(await receiver.markDone('deliver', 'ord_1')).toBe(true);
    expect(await receiver.markDone('deliver', 'ord_1')).toBe(false);
    for (const event of ['order:paid', 'order:updated'])
      await deliver(receiver, paidOrder(), { event });
    expect(ship).not.toHaveBeenCalled();
    await deliver(receiver, paidOrder({ id: 'ord_2' }));
    expect(ship).toHaveBeenCalledOnce();
  });

  test('does not stop the other handlers', async () => {
    const { receiver } = shop();
    await receiver.markDone('deliver', 'ord_1');
    expect(await deliver(receiver, paidOrder())).toMatchObject({
      outcome: 'handled',
      ran: ['audit'],
    });
  });

  test('returns false if it was delivered before', async () => {
    const { receiver } = shop();
    await deliver(receiver, paidOrder());
    expect(await receiver.markDone('deliver', 'ord_1')).toBe(false);
  });

  test('is not tried again after a failure', async () => {
    const { receiver, ship } = shop();
    ship.mockRejectedValueOnce(new Error('no'));
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    expect(await receiver.markDone('deliver', 'ord_1')).toBe(true);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
    expect(ship).toHaveBeenCalledOnce();
  });

  describe('by the handler of its refund', () => {
    const refund = paidOrder({ status: 56, updated_at: '2026-11-20T11:00:00.000000+00:00' });
    const REFUND = { event: 'order:updated', id: 'whl_2' };
    function shopWithRefunds() {
      const { ship, receiver } = shop();
      const revoke = vi.fn();
      receiver.on(
        'order:updated',
        async ({ payload: { id }, scope }) => {
          await receiver.markDone('deliver', id, { scope });
          revoke(id);
        },
        { name: 'refund', when: ({ status }) => status === 56, oncePer: ({ id }) => id },
      );
      return { ship, receiver, revoke };
    }

    test('is not delivered by a later order:paid', async () => {
      const { ship, receiver, revoke } = shopWithRefunds();
      ship.mockRejectedValueOnce(new Error('no stock'));
      expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
      expect(await deliver(receiver, refund, REFUND)).toMatchObject({ ran: ['refund'] });
      expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
      await deliver(receiver, paidOrder(), { id: 'whl_3', event: 'order:updated' });
      expect([ship, revoke].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    });

    test('is taken back after its running delivery ends', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      const { ship, receiver, revoke } = shopWithRefunds();
      onTestFinished(() => void vi.useRealTimers());
      const shipped = gate();
      ship.mockReturnValueOnce(shipped.opened);
      const paid = deliver(receiver, paidOrder());
      await vi.waitFor(() => expect(ship).toHaveBeenCalled());
      const early = deliver(receiver, refund, REFUND);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await early).toMatchObject({ outcome: 'failed' });
      expect(revoke).not.toHaveBeenCalled();
      shipped.open();
      expect(await paid).toMatchObject({ outcome: 'handled' });
      expect(await deliver(receiver, refund, REFUND)).toMatchObject({ ran: ['refund'] });
      expect(revoke).toHaveBeenCalledExactlyOnceWith('ord_1');
    });
  });

  test('is marked under the former name of its handler', async () => {
    const store = memoryStore();
    await shop({ store }).receiver.markDone('deliver', 'ord_1');
    const renamed = createReceiver({ secret: SECRET, store }).on('order:paid', () => {}, {
      name: 'hand-out',
      formerly: 'deliver',
      oncePer: (order) => order.id,
    });
    expect(await renamed.markDone('hand-out', 'ord_1')).toBe(false);
    expect(await deliver(renamed, paidOrder())).toMatchObject({ outcome: 'duplicate' });
  });

  test('is marked in its scope only', async () => {
    const secret = ({ url = '' }) => ({ secret: SECRET, scope: url });
    const { receiver, ship } = shop({ secret });
    expect(await receiver.markDone('deliver', 'ord_1', { scope: '/one' })).toBe(true);
    for (const url of ['/one', '/two']) await deliver(receiver, paidOrder(), { url });
    expect(ship.mock.calls.map(([{ scope }]) => scope)).toEqual(['/two']);
  });
});

describe('a mark', () => {
  test.each<['claim' | 'complete', number, boolean]>([
    ['claim', 1, true],
    ['complete', 2, true],
    ['claim', 99, false],
    ['complete', 99, false],
  ])(
    'tolerates some failures of the store: %s fails %d times (marked: %j)',
    async (verb, times, isMade) => {
      const { receiver } = shop({ store: failing(verb, times) });
      const marked = receiver.markDone('deliver', 'ord_1');
      if (isMade) expect(await marked).toBe(true);
      else await expect(marked).rejects.toMatchObject({ code: 'store_unavailable' });
    },
  );

  test('rejects while the handler is running, and can be made later', async () => {
    const store = memoryStore();
    let finish = () => {};
    const running = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { receiver, ship } = shop({ store });
    ship.mockReturnValueOnce(running);
    const delivered = deliver(receiver, paidOrder());
    await vi.waitUntil(() => ship.mock.calls.length > 0);
    await expect(receiver.markDone('deliver', 'ord_1')).rejects.toMatchObject({
      code: 'delivery_unfinished',
    });
    finish();
    expect(await delivered).toMatchObject({ outcome: 'handled' });
    expect(await receiver.markDone('deliver', 'ord_1')).toBe(false);
  });

  test('rejects after the receiver is closed', async () => {
    const { receiver } = shop();
    await receiver.close();
    await expect(receiver.markDone('deliver', 'ord_1')).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  });
});

describe('a wrong call of markDone', () => {
  test.each<[string, string, unknown[], object, string]>([
    ['an unknown handler', 'handler_unknown', ['delivr', 'a'], {}, 'Did you mean "deliver"?'],
    [
      'a handler without oncePer',
      'handler_unknown',
      ['audit', 'a'],
      {},
      'Handlers with oncePer: deliver',
    ],
    ['no key', 'key_invalid', ['deliver', ''], {}, 'a string such as order.id, not "".'],
    [
      'null as the key',
      'key_invalid',
      ['deliver', null],
      {},
      'a string such as order.id, not null.',
    ],
    [
      'a number as the key',
      'key_invalid',
      ['deliver', 7],
      {},
      'The oncePer key of the handler "deliver" has to be a string such as order.id, not number.',
    ],
    ['a hole in the key', 'key_invalid', ['deliver', 'a:undefined'], {}, ', not "undefined".'],
    ['another option', 'option_invalid', ['deliver', 'a', { scop: '' }], {}, '"scope"'],
    ['another scope', 'scope_invalid', ['deliver', 'a', { scope: 'b' }], {}, 'of another scope'],
    ['no scope', 'option_invalid', ['deliver', 'a'], { secret: () => null }, 'needs { scope }'],
  ])('with %s rejects with the code %s', async (_, code, args, options, said) => {
    const { receiver } = shop(options);
    const marked: Promise<boolean> = Reflect.apply(receiver.markDone, receiver, args);
    await expect(marked).rejects.toThrow(UsageError);
    await expect(marked).rejects.toMatchObject({ code, message: expect.stringContaining(said) });
  });
});
