import { createReceiver, eventSchemas, memoryStore } from 'storefront-webhooks';
import { replay } from 'storefront-webhooks/testing';
import { describe, expect, test, vi } from 'vitest';
import { order, paidOrder, secret, signed, watched } from './watched.js';

describe('a signed body under unsigned headers', () => {
  test('threat 1: the body of order:created is rejected as order:paid', async () => {
    const { receiver, handler, claim, onRejected } = watched();
    const { status, outcome } = await replay(receiver, 'hostile/forged-event');
    expect({ status, outcome }).toEqual({ status: 422, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
    expect(onRejected).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        code: 'payload_invalid',
        verified: true,
        issues: [expect.objectContaining({ path: 'status' })],
      }),
    );
  });

  test('threat 1: a status that only looks like a paid one is not paid, with any schema', async () => {
    const handler = vi.fn();
    const events = { 'order:paid': eventSchemas['query:created'] };
    const hooks = { onRejected() {} };
    const receiver = createReceiver({ secret, events, hooks, store: memoryStore() });
    receiver.on('*', handler);
    for (const status of ['100', 100.5, true, [100], { 100: 100 }, null]) {
      const reply = await receiver.receive(signed(order({ status })));
      expect(reply).toMatchObject({ status: 422, outcome: 'rejected' });
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test('threat 1: the event in a wrapped body has to match the header', async () => {
    const { receiver, handler, claim } = watched({ unwrap: true });
    const body = JSON.stringify({ event: 'order:updated', data: paidOrder });
    const relabelled = await receiver.receive(signed(body));
    expect(relabelled).toMatchObject({ status: 422, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();

    const honest = await receiver.receive(signed(body, { 'x-service-event': 'order:updated' }));
    expect(honest).toMatchObject({ status: 200, outcome: 'handled' });
  });

  test('threat 1: if onInvalid accepts a relabelled body, the handlers of the event do not run', async () => {
    const { receiver, handler } = watched();
    const kept = vi.fn();
    receiver.onInvalid(kept);
    const { status, outcome } = await replay(receiver, 'hostile/forged-event');
    expect({ status, outcome }).toEqual({ status: 200, outcome: 'parked' });
    expect(kept).toHaveBeenCalledOnce();
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([
    ['not paid', 'order:updated/not-paid'],
    ['charged back', 'order:updated/chargeback'],
    ['of high risk', 'order:updated/high-risk'],
    ['partially paid', 'order:updated/partially-paid'],
    ['unconfirmed', 'order:updated/awaiting-confirmations'],
    ['pending', 'order:updated/pending'],
    ['refunded', 'order:updated/refunded'],
    ['of unknown status', 'order:updated/new-status'],
  ])('threat 2: an order that is %s does not count as paid', async (_, fixture) => {
    const { receiver, handler, claim } = watched();
    const { status, outcome } = await replay(receiver, fixture, { event: 'order:paid' });
    expect({ status, outcome }).toEqual({ status: 422, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });

  test('threat 2: paidStatuses decides which states are paid', async () => {
    const { receiver } = watched({ paidStatuses: [54, 100] });
    const unconfirmed = await replay(receiver, 'hostile/unconfirmed-as-paid');
    expect(unconfirmed).toMatchObject({ status: 200, outcome: 'handled' });
    const refunded = await replay(receiver, 'hostile/refunded-as-paid');
    expect(refunded).toMatchObject({ status: 422, outcome: 'rejected' });
  });

  test('threat 3: with oncePer, an old body under a new id does nothing', async () => {
    const deliver = vi.fn();
    const receiver = createReceiver({ secret, store: memoryStore() }).on('order:paid', deliver, {
      name: 'order:paid',
      oncePer: ({ id }) => id,
    });
    expect(await replay(receiver, 'order:paid')).toMatchObject({ outcome: 'handled' });
    const again = await replay(receiver, 'order:paid', { id: 'fresh' });
    expect(again).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(deliver).toHaveBeenCalledOnce();
  });

  test('threat 3: with oncePer, a later body of the same order, relabelled, does nothing', async () => {
    const deliver = vi.fn();
    const receiver = createReceiver({ secret, store: memoryStore() }).on('order:paid', deliver, {
      name: 'order:paid',
      oncePer: ({ id }) => id,
    });
    await replay(receiver, 'order:paid');
    const updated = signed(order({ updated_at: '2026-11-21T09:00:00.000000+00:00' }), {
      'x-service-webhook': 'whl_of_the_update',
    });
    expect(await receiver.receive(updated)).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(deliver).toHaveBeenCalledOnce();
  });

  test('threat 3: with keyBy content, an old body under a new id is a duplicate', async () => {
    const lenient = watched();
    const { receiver, handler } = watched({ keyBy: 'content' });
    for (const each of [lenient.receiver, receiver]) {
      expect(await replay(each, 'order:paid')).toMatchObject({ outcome: 'handled' });
    }
    // Another endpoint of the account may need it, so it is accepted by default.
    const fresh = await replay(lenient.receiver, 'order:paid', { id: 'fresh' });
    expect(fresh).toMatchObject({ status: 200, outcome: 'handled' });

    const again = await replay(receiver, 'order:paid', { id: 'fresh' });
    expect(again).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(handler).toHaveBeenCalledOnce();
  });

  test('threat 3: with maxAge, an old body is rejected', async () => {
    const hour = 3_600_000;
    const { receiver, handler, claim } = watched({ maxAge: hour });
    const aged = (ms: number) =>
      signed(order({ updated_at: new Date(Date.now() - ms).toISOString() }));
    expect(await receiver.receive(aged(2 * hour))).toMatchObject({
      status: 422,
      outcome: 'rejected',
    });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
    expect(await receiver.receive(aged(hour / 2))).toMatchObject({
      status: 200,
      outcome: 'handled',
    });
  });

  test.each([
    ['hostile/product-as-order'],
    ['hostile/query-as-order'],
    ['hostile/array'],
    ['hostile/empty-object'],
  ])('threat 5: a body of another type is not accepted as an order: %s', async (fixture) => {
    const { receiver, handler, claim } = watched();
    for (const event of ['order:created', 'order:updated', 'order:paid']) {
      const { status, outcome } = await replay(receiver, fixture, { event });
      expect({ event, status, outcome }).toEqual({ event, status: 422, outcome: 'rejected' });
    }
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });

  test.each(['id', 'status', 'email'])(
    'threat 5: an order without its %s is rejected',
    async (field) => {
      const { receiver, handler, claim } = watched();
      const body = order({ [field]: undefined });
      const reply = await receiver.receive(signed(body, { 'x-service-event': 'order:updated' }));
      expect(reply).toMatchObject({ status: 422, outcome: 'rejected' });
      expect(handler).not.toHaveBeenCalled();
      expect(claim).not.toHaveBeenCalled();
    },
  );
});
