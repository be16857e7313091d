import { createReceiver, memoryStore } from 'storefront-webhooks';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { describe, expect, test, vi } from 'vitest';
import { order, paidOrder, secret, signed, watched } from './watched.js';

const oddNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'then',
  'error',
  'newListener',
  '*',
  'order:*',
  'onUnknown',
  'onInvalid',
];

describe('misleading names and payloads', () => {
  test.each(oddNames)('threat 14: an event named %s is unknown', async (event) => {
    const { receiver, handler, claim } = watched();
    receiver.onInvalid(handler);
    const reply = await replay(receiver, 'order:paid', { event });
    expect(reply).toMatchObject({ status: 200, outcome: 'ignored' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });

  test.each(oddNames)('threat 14: onUnknown gets an event named %s, once', async (event) => {
    const { receiver, handler } = watched();
    const unknown = vi.fn();
    receiver.onUnknown(unknown);
    expect(await replay(receiver, 'order:paid', { event })).toMatchObject({ outcome: 'handled' });
    expect(await replay(receiver, 'order:paid', { event })).toMatchObject({ outcome: 'duplicate' });
    expect(unknown).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ event }));
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([...oddNames, 'a:b/c#d|e\\f"g,h', '\u0000', 'x'.repeat(8_000), '💥'])(
    'threat 14: an id of %s is an ordinary id',
    async (id) => {
      const { receiver, handler } = watched();
      expect(await replay(receiver, 'order:paid', { id })).toMatchObject({ outcome: 'handled' });
      expect(await replay(receiver, 'order:paid', { id })).toMatchObject({ outcome: 'duplicate' });
      expect(handler).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id }));
    },
  );

  test.each(oddNames)(
    'threat 14: a step may have the name of its handler, even %s',
    async (name) => {
      const receiver = createReceiver({ secret, store: memoryStore(), hooks: { onError() {} } });
      const step = vi.fn(() => name);
      const handler = vi.fn();
      handler.mockRejectedValueOnce(new Error('after the step'));
      receiver.on('order:paid', async ({ once }) => handler(await once(name, step)), { name });
      expect(await replay(receiver, 'order:paid')).toMatchObject({ outcome: 'failed' });
      expect(await replay(receiver, 'order:paid')).toMatchObject({ outcome: 'handled' });
      expect(step).toHaveBeenCalledOnce();
      expect(handler.mock.calls).toEqual([[name], [name]]);
    },
  );

  test('threat 18: a field nested 10,000 deep is passed on unchanged', async () => {
    const { receiver, handler } = watched();
    const { body } = loadFixture('hostile/deep');
    const { status, outcome } = await replay(receiver, 'hostile/deep');
    expect({ status, outcome }).toEqual({ status: 200, outcome: 'handled' });
    expect(Buffer.from(handler.mock.lastCall?.[0].rawBody ?? [])).toEqual(Buffer.from(body));
  });

  const deep = '['.repeat(50_000) + ']'.repeat(50_000);

  test.each(Object.keys(paidOrder))(
    'threat 18: a %s nested 50,000 deep does no harm',
    async (field) => {
      const { receiver, handler, claim, onError } = watched();
      const body = order({ [field]: 'DEEP' }).replace('"DEEP"', deep);
      const reply = await receiver.receive(signed(body));
      const isNeeded = ['id', 'status', 'email'].includes(field);
      expect(reply).toMatchObject(
        isNeeded ? { status: 422, outcome: 'rejected' } : { status: 200, outcome: 'handled' },
      );
      expect(handler).toHaveBeenCalledTimes(isNeeded ? 0 : 1);
      expect(claim).toHaveBeenCalledTimes(isNeeded ? 0 : 1);
      expect(onError).not.toHaveBeenCalled();
    },
  );

  test.each([
    ['as a whole', deep, 'order:paid', 422],
    ['under an event without a schema', `{"deep":${deep}}`, 'query:replied', 200],
    ['under an unknown event', deep, 'unheard:of', 200],
  ])('threat 18: a body nested 50,000 deep %s does no harm', async (_, body, event, expected) => {
    const { receiver, onError } = watched();
    const reply = await receiver.receive(signed(body, { 'x-service-event': event }));
    expect(reply.status).toBe(expected);
    expect(onError).not.toHaveBeenCalled();
  });

  test('threat 18: a number beyond the range of a double is reported, and left undefined', async () => {
    const { receiver, handler } = watched();
    expect(await replay(receiver, 'hostile/huge-numbers')).toMatchObject({ outcome: 'handled' });
    const event = handler.mock.lastCall?.[0];
    expect(event?.payload).toMatchObject({ value: undefined, quantity: undefined });
    expect(event?.issues.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['value', 'quantity']),
    );
  });

  test('threat 18: the last value of a repeated key counts in every check', async () => {
    const { receiver, handler, claim } = watched();
    const body = `${order({ status: 100 }).slice(0, -1)},"status":0}`;
    const reply = await receiver.receive(signed(body));
    expect(reply).toMatchObject({ status: 422, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();

    const other = `${order({ status: 0 }).slice(0, -1)},"status":100}`;
    expect(await receiver.receive(signed(other))).toMatchObject({ outcome: 'handled' });
    expect(handler.mock.lastCall?.[0].payload).toMatchObject({ status: 100 });
  });

  test('threat 18: a lone surrogate is ordinary text', async () => {
    const { receiver, handler } = watched();
    expect(await replay(receiver, 'hostile/lone-surrogate')).toMatchObject({ outcome: 'handled' });
    expect(handler.mock.lastCall?.[0].payload).toMatchObject({ product_title: '\uD800' });
  });

  const proto = '"__proto__":{"status":0,"email":"x","polluted":true}';

  test.each([
    ['a valid record', order()],
    ['a record with an invalid field', order({ quantity: 'many' })],
  ])('threat 19: __proto__ in %s stays an ordinary key', async (_, record) => {
    const { receiver, handler } = watched();
    const nested = record.replace('"custom":{}', `"custom":{${proto}}`);
    const body = `{${proto},${nested.slice(1)}`;
    expect(await receiver.receive(signed(body))).toMatchObject({ outcome: 'handled' });

    const payload = handler.mock.lastCall?.[0].payload;
    expect(payload).toMatchObject({ status: 100, email: paidOrder.email });
    expect(payload).not.toHaveProperty('polluted');
    expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
    expect(payload).toHaveProperty('custom', JSON.parse(`{${proto}}`));
    expect(payload).not.toHaveProperty('custom.polluted');
    expect({}).not.toHaveProperty('polluted');
  });

  test('threat 19: a property that only __proto__ has is not a field of an order', async () => {
    const { receiver, handler, claim } = watched();
    const reply = await receiver.receive(signed(`{"__proto__":${order()}}`));
    expect(reply).toMatchObject({ status: 422, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });
});
