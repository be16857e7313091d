import { createReceiver, memoryStore } from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { describe, expect, test, vi } from 'vitest';
import { Reporter } from '../../src/report/hooks.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

function shop(
  options: { keyBy?: 'delivery' | 'content' | 'id'; scope?: string } = {},
  store = memoryStore(),
) {
  const handler = vi.fn(async () => {});
  const onOutcome = vi.fn();
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onOutcome }, ...options });
  return { handler, onOutcome, receiver: receiver.on('*', handler) };
}

describe('a duplicate', () => {
  test('is a retry that the provider has encoded differently', async () => {
    const { handler, receiver } = shop();
    const text = JSON.stringify(paidOrder({ value: 10 }));
    await deliver(receiver, text);
    for (const again of [
      text.replaceAll(',', ', '),
      text.replace('"value":10', '"value":10.0'),
      ` ${text}\r\n`,
    ]) {
      expect(await deliver(receiver, again)).toMatchObject({ outcome: 'duplicate' });
    }
    expect(handler).toHaveBeenCalledOnce();
  });

  test('that arrives while the first one runs gets its outcome', async () => {
    const { handler, receiver } = shop();
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => deliver(receiver, paidOrder())),
    );
    expect(handler).toHaveBeenCalledOnce();
    expect(replies.map(({ status }) => status)).toEqual(Array(40).fill(200));
    expect(replies.filter(({ outcome }) => outcome === 'handled')).toHaveLength(1);
  });

  test('that arrives while the first one fails gets that failure, and does not run', async () => {
    // On a slow machine, each arrives in another turn of the event loop.
    const handler = vi.fn().mockImplementationOnce(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw new Error('no');
    });
    const receiver = createReceiver({ secret: SECRET, hooks: { onError() {} } }).on('*', handler);
    const replies = await Promise.all([1, 2, 3].map(() => deliver(receiver, paidOrder())));
    expect(replies.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed']);
    expect(handler).toHaveBeenCalledOnce();
  });

  test.each([
    ['the same id with another order', paidOrder({ id: 'ord_2' }), {}],
    ['the same id with another state of the order', paidOrder({ updated_at: 'later' }), {}],
    ['the same order under another id', paidOrder(), { id: 'whl_2' }],
    ['the same order under another event', paidOrder(), { event: 'order:updated' }],
  ])('is not %s', async (_, payload, sent) => {
    const { handler, receiver } = shop();
    await deliver(receiver, paidOrder());
    expect(await deliver(receiver, payload, sent)).toMatchObject({ outcome: 'handled' });
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test('is recognised by its content if it has no id', async () => {
    const { handler, receiver, onOutcome } = shop();
    const headers = { 'x-service-webhook': '' };
    await deliver(receiver, paidOrder(), { headers });
    expect(await deliver(receiver, paidOrder(), { headers })).toMatchObject({
      outcome: 'duplicate',
    });
    expect(handler).toHaveBeenCalledOnce();
    expect(onOutcome.mock.calls[0]?.[0].id).toMatch(/^content:[0-9a-f]{32}$/);
  });

  test('in one scope is not a duplicate in another scope', async () => {
    const store = memoryStore();
    const one = shop({ scope: 'one' }, store);
    const two = shop({ scope: 'two' }, store);
    await deliver(one.receiver, paidOrder());
    expect(await deliver(two.receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  });

  test("with keyBy: 'content' is a replay under a new id as well", async () => {
    const { receiver } = shop({ keyBy: 'content' });
    await deliver(receiver, paidOrder());
    expect(await deliver(receiver, paidOrder(), { id: 'whl_2' })).toMatchObject({
      outcome: 'duplicate',
    });
    expect(await deliver(receiver, paidOrder({ id: 'ord_2' }))).toMatchObject({
      outcome: 'handled',
    });
  });

  test("with keyBy: 'id' is any delivery with the same id", async () => {
    const { receiver } = shop({ keyBy: 'id' });
    await deliver(receiver, paidOrder());
    expect(await deliver(receiver, paidOrder({ id: 'ord_2' }))).toMatchObject({
      outcome: 'duplicate',
    });
    expect(await deliver(receiver, paidOrder(), { id: 'whl_2' })).toMatchObject({
      outcome: 'handled',
    });
  });
});

test('an id with different content is reported', async () => {
  const { receiver, onOutcome } = shop();
  await deliver(receiver, paidOrder());
  await deliver(receiver, paidOrder());
  await deliver(receiver, paidOrder({ id: 'ord_2' }));
  expect(onOutcome.mock.calls.map(([{ idReused }]) => idReused)).toEqual([false, false, true]);
});

test('an id with different content is reported after 5,000 other deliveries, and not after 10,000', async () => {
  const onOutcome = vi.fn();
  const reporter = new Reporter({ hooks: { onOutcome }, telemetry: undefined, debug: false });
  const handled = async () => ({ outcome: 'handled', ran: [] }) as const;
  const body = new TextEncoder().encode(JSON.stringify(paidOrder()));
  const headers = { 'x-service-event': 'order:paid', 'x-service-signature': sign(body, SECRET) };
  const request = { method: 'POST', headers, body };
  const given = await createReceiver({ secret: SECRET }).verify(request);
  if (given.outcome !== undefined) throw new Error('It was rejected.');
  const end = async (id: string, content = 'same') => {
    const started = { action: 'process', startedAt: 0 } as const;
    await reporter.watch({ ...given, id, content }, started, handled);
    return onOutcome.mock.lastCall?.[0].idReused;
  };
  let others = 0;
  const endOthers = async (count: number) => {
    for (let left = count; left > 0; left--) await end(`other ${others++}`);
  };
  await end('whl_1');
  await endOthers(5_000);
  expect(await end('whl_1', 'another')).toBe(true);
  await endOthers(10_000);
  expect(await end('whl_1', 'a third')).toBe(false);
});

test('an invalid delivery does not use up the key of the correct one', async () => {
  const handler = vi.fn();
  const receiver = createReceiver({ secret: SECRET })
    .on('order:paid', handler)
    .onInvalid(() => {});
  const wrong = paidOrder({ email: undefined });
  expect(await deliver(receiver, wrong)).toMatchObject({ outcome: 'parked' });
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(await deliver(receiver, wrong)).toMatchObject({ outcome: 'parked' });
});

test('an id may be used by two shops', async () => {
  const onOutcome = vi.fn();
  const secret = ({ url = '' }) => ({ secret: SECRET, scope: url });
  const receiver = createReceiver({ secret, hooks: { onOutcome } }).on('order:paid', () => {});
  await deliver(receiver, paidOrder(), { url: '/a' });
  await deliver(receiver, paidOrder({ id: 'ord_2' }), { url: '/b' });
  expect(onOutcome.mock.calls.map(([{ idReused }]) => idReused)).toEqual([false, false]);
});

test('an id may be used again for the same content under another event', async () => {
  const { receiver, onOutcome } = shop();
  await deliver(receiver, paidOrder());
  await deliver(receiver, paidOrder(), { event: 'order:updated' });
  expect(onOutcome.mock.calls.map(([{ idReused }]) => idReused)).toEqual([false, false]);
});
