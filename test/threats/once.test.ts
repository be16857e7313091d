import { type IdempotencyStore, memoryStore, type Receiver } from 'storefront-webhooks';
import { loadFixture, type ReplayResult, replay } from 'storefront-webhooks/testing';
import { describe, expect, test, vi } from 'vitest';
import { durableStore } from '../support/durable.js';
import { order, paidOrder, signed, watched } from './watched.js';

describe('claims and their outcomes', () => {
  const { headers } = loadFixture('order:paid');
  const id = new Map(headers).get('X-Service-Webhook') ?? '';

  const burners: readonly [string, string, number, (to: Receiver) => Promise<ReplayResult>][] = [
    ['another signed body', 'handled', 1, (to) => replay(to, 'order:paid/coupon', { id })],
    ['a known event', 'handled', 1, (to) => replay(to, 'order:paid', { event: 'order:updated' })],
    ['an unknown event', 'ignored', 0, (to) => replay(to, 'order:paid', { event: 'order:gone' })],
    ['a body its schema refuses', 'rejected', 0, (to) => replay(to, 'hostile/array', { id })],
    ['a relabelled body', 'rejected', 0, (to) => replay(to, 'hostile/forged-event', { id })],
    ['an unverified request', 'rejected', 0, (to) => replay(to, 'order:paid', { corrupt: true })],
  ];

  test.each(burners)(
    'threat 4: the id of a genuine delivery cannot be used up in advance by %s',
    async (_, outcome, claims, burn) => {
      const { receiver, handler, claim } = watched();
      expect(await burn(receiver)).toMatchObject({ outcome });
      expect(claim).toHaveBeenCalledTimes(claims);
      handler.mockClear();

      const real = await replay(receiver, 'order:paid');
      expect(real).toMatchObject({ status: 200, outcome: 'handled' });
      expect(handler).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ id, payload: expect.objectContaining({ id: paidOrder.id }) }),
      );
    },
  );

  test('threat 4: the id of a genuine delivery cannot be used up by a body that onInvalid parks', async () => {
    const { receiver, handler } = watched();
    receiver.onInvalid(() => {});
    const parked = await replay(receiver, 'hostile/forged-event', { id });
    expect(parked).toMatchObject({ outcome: 'parked' });
    const real = await replay(receiver, 'order:paid');
    expect(real).toMatchObject({ status: 200, outcome: 'handled' });
    expect(handler).toHaveBeenCalledOnce();
  });

  test('threat 11: one of several simultaneous duplicates runs the handler', async () => {
    const { receiver, handler } = watched();
    const results = await replay(receiver, 'order:paid', { duplicate: 50, concurrency: 50 });
    expect(handler).toHaveBeenCalledOnce();
    expect(outcomesOf(results)).toEqual({ handled: 1, duplicate: 49 });
  });

  test('threat 11: one of two processes on the same store runs the handler', async () => {
    const store = memoryStore();
    const first = watched({ store });
    const second = watched({ store });
    for (const { handler } of [first, second]) {
      // The one that runs it continues until the other has made its claim.
      handler.mockImplementation(() =>
        vi.waitUntil(() => first.claim.mock.calls.length + second.claim.mock.calls.length > 1),
      );
    }
    const results = await Promise.all([
      replay(first.receiver, 'order:paid'),
      replay(second.receiver, 'order:paid'),
    ]);
    expect(first.handler.mock.calls.length + second.handler.mock.calls.length).toBe(1);
    expect(outcomesOf(results)).toEqual({ handled: 1, duplicate: 1 });
  });

  test('threat 11: while another process is busy, the answer is not a success', async () => {
    const { receiver, claim, handler } = watched();
    claim.mockResolvedValue({ state: 'busy', retryAfterMs: 5_000 });
    const answer = replay(receiver, 'order:paid');
    await vi.waitUntil(() => claim.mock.calls.length > 0);
    // A receiver that closes does not wait for the other process.
    await receiver.close();
    const { status, outcome, headers } = await answer;
    expect({ status, outcome }).toEqual({ status: 503, outcome: 'busy' });
    expect(headers['retry-after']).toBe('5');
    expect(handler).not.toHaveBeenCalled();
  });

  test('threat 12: a retry runs the handler again if it failed', async () => {
    const { receiver, handler } = watched();
    handler.mockRejectedValueOnce(new Error('the mail server is down'));
    const first = await replay(receiver, 'order:paid');
    expect(first).toMatchObject({ status: 500, outcome: 'failed' });
    const second = await replay(receiver, 'order:paid');
    expect(second).toMatchObject({ status: 200, outcome: 'handled' });
    expect(handler.mock.calls.map(([{ attempt }]) => attempt)).toEqual([1, 2]);

    const third = await replay(receiver, 'order:paid');
    expect(third).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test('threat 12: duplicates of a failing delivery are answered as failed', async () => {
    const { receiver, handler } = watched();
    // A duplicate may arrive in a later turn of the event loop, and one after the failure is a retry.
    handler.mockImplementationOnce(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw new Error('the mail server is down');
    });
    const results = await replay(receiver, 'order:paid', { duplicate: 10, concurrency: 10 });
    expect(outcomesOf(results)).toEqual({ failed: 10 });
    expect(await replay(receiver, 'order:paid')).toMatchObject({ outcome: 'handled' });
  });

  test('threat 12: a retry skips the handlers that have finished', async () => {
    const { receiver, handler } = watched();
    const other = vi.fn().mockRejectedValueOnce(new Error('the mail server is down'));
    receiver.on('order:paid', other);
    expect(await replay(receiver, 'order:paid')).toMatchObject({ status: 500, outcome: 'failed' });
    expect(await replay(receiver, 'order:paid')).toMatchObject({
      status: 200,
      ran: ['order:paid'],
    });
    expect(handler).toHaveBeenCalledOnce();
    expect(other).toHaveBeenCalledTimes(2);
  });

  test('threat 12: a retry runs the handler again if it timed out', async () => {
    const { receiver, handler } = watched({ timeout: 5 });
    handler.mockImplementationOnce(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    expect(await replay(receiver, 'order:paid')).toMatchObject({ status: 500, outcome: 'failed' });
    expect(await replay(receiver, 'order:paid')).toMatchObject({ status: 200, outcome: 'handled' });
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test.each([
    'order:paid/missing-fields',
    'order:paid/unknown-field',
    'order:paid/numbers',
    'order:updated/new-status',
    'hostile/huge-numbers',
  ])(
    'threat 13: an unusual order is handled instead of being rejected forever: %s',
    async (fixture) => {
      const { receiver, handler } = watched();
      expect(await replay(receiver, fixture)).toMatchObject({ status: 200, outcome: 'handled' });
      expect(handler).toHaveBeenCalledOnce();
    },
  );

  test.each([null, {}, [], '', ' ', -1, 1e308, 0.1, true, '1e5', '\u0000', 'ß'])(
    'threat 13: an order is handled even if its optional fields are all %j',
    async (odd) => {
      const { receiver, handler } = watched();
      const { id, status, email, ...optional } = paidOrder;
      const names = Object.keys(optional);
      const body = { id, status, email, ...Object.fromEntries(names.map((name) => [name, odd])) };
      const reply = await receiver.receive(signed(JSON.stringify(body)));
      expect(reply).toMatchObject({ status: 200, outcome: 'handled' });
      expect(handler).toHaveBeenCalledOnce();
    },
  );

  test('threat 13: a body that onInvalid has accepted is answered with a success, and accepted once', async () => {
    const { receiver, handler } = watched();
    const kept = vi.fn();
    receiver.onInvalid(kept);
    const first = await replay(receiver, 'hostile/empty-object');
    expect(first).toMatchObject({ status: 200, outcome: 'parked' });
    const second = await replay(receiver, 'hostile/empty-object');
    expect(second).toMatchObject({ status: 200, outcome: 'parked' });
    expect(kept).toHaveBeenCalledOnce();
    expect(handler).not.toHaveBeenCalled();
  });

  test('threat 13: a delivery that is interrupted each time is parked, and listed by the store', async () => {
    const { receiver, store, handler } = watched({ store: crashing(), timeout: 5 });
    handler.mockReturnValue(new Promise(() => {}));
    for (let attempt = 1; attempt <= 5; attempt++) {
      const hung = await replay(receiver, 'order:paid');
      expect(hung).toMatchObject({ status: 500, outcome: 'failed' });
    }
    expect(await replay(receiver, 'order:paid')).toMatchObject({ status: 200, outcome: 'parked' });
    expect(handler).toHaveBeenCalledTimes(5);
    expect(await store.list({ state: 'dead', limit: 10 })).toEqual([
      expect.objectContaining({ id, event: 'order:paid', attempts: 5 }),
    ]);
  });

  test.each([':', ',', '|', '/', '\0', '\n', '","', ''])(
    'threat 15: scope and id do not collide, although they would if they were joined by %j',
    async (separator) => {
      const store = memoryStore();
      const deliveries = [
        { scope: 'a', id: `b${separator}c` },
        { scope: `a${separator}b`, id: 'c' },
      ];
      for (const { scope, id } of deliveries) {
        const { receiver, handler } = watched({ store, scope });
        const reply = await receiver.receive(signed(order(), { 'x-service-webhook': id }));
        expect(reply).toMatchObject({ status: 200, outcome: 'handled' });
        expect(handler).toHaveBeenCalledOnce();
      }
    },
  );

  test.each([':', ',', '","', ''])(
    'threat 15: the name of a handler and its key do not collide: %j',
    async (separator) => {
      const { receiver } = watched();
      const deliver = vi.fn();
      receiver
        .on('order:paid', deliver, { name: 'a', oncePer: () => `b${separator}c` })
        .on('order:paid', deliver, { name: `a${separator}b`, oncePer: () => 'c' });
      expect(await replay(receiver, 'order:paid')).toMatchObject({ outcome: 'handled' });
      expect(deliver).toHaveBeenCalledTimes(2);
    },
  );
});

/** A durable store whose leases expire at once, as if each claiming process died. */
function crashing(): IdempotencyStore {
  return durableStore((store) => ({
    claim: (delivery, terms) => store.claim(delivery, { ...terms, leaseMs: 1 }),
    renew: (key, fence) => store.renew(key, fence, 1),
  }));
}

function outcomesOf(results: readonly ReplayResult[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome = 'none' } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
