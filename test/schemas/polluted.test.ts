import { createReceiver, memoryStore } from 'storefront-webhooks';
import { afterEach, expect, test } from 'vitest';
import { orderSchema } from '../../src/schemas/order.js';
import { call, watched } from '../goods/calls.js';
import { deliver, SECRET } from '../support/deliver.js';

const everyObject: Record<string, unknown> = Object.prototype as never;
afterEach(() => {
  for (const name of ['status', 'gateway', 'colour', 'id', 'updated_at']) delete everyObject[name];
});

test('a property that a program adds to every object is not a field of an order', async () => {
  const read = () => orderSchema.read({ id: 'ord_1', email: 'a@example.com', status: 100 });
  const before = read();
  Object.assign(everyObject, { gateway: 'paypal', colour: 'red' });
  const after = read();
  expect(after).toMatchObject({ value: { gateway: undefined }, issues: before.issues });
  expect('value' in after && Object.keys(after.value)).not.toContain('colour');
});

test('a required field cannot be inherited either', () => {
  everyObject.id = 'ord_1';
  expect(orderSchema.read({ status: 100, email: 'a@example.com' })).toEqual({
    issues: [{ path: 'id', message: expect.any(String) }],
  });
});

test('an order without a status does not become a paid one', async () => {
  const ran: string[] = [];
  const hooks = { onRejected() {}, onError() {} };
  const receiver = createReceiver({ secret: SECRET, store: memoryStore(), hooks }).on(
    'order:paid',
    ({ payload }) => void ran.push(payload.id),
  );
  const order = { id: 'ord_1', email: 'a@example.com' };
  const before = await deliver(receiver, order, { id: 'whl_1' });
  everyObject.status = 100;
  const after = await deliver(receiver, order, { id: 'whl_2' });
  expect([before.status, after.status, ran]).toEqual([422, 422, []]);
});

test('a signed body without a status or an id of its own gets no goods', async () => {
  const { goods, orders } = watched();
  everyObject.status = 100;
  const query = { id: 'qry_1', email: 'a@example.com', title: 'Hello', message: 'Hi' };
  expect((await call(goods, query)).status).toBe(422);
  everyObject.id = 42;
  expect((await call(goods, { email: 'a@example.com', status: 100 })).status).toBe(422);
  expect(orders).toEqual([]);
});

test('an order object with its status in a getter of its class keeps that status', async () => {
  class Order {
    readonly id = 'ord_1';
    get status() {
      return 0;
    }
  }
  const { goods, orders } = watched({ verify: { allow: () => new Order() } });
  expect((await call(goods, { id: 'ord_1' })).status).toBe(422);
  expect(orders).toEqual([]);
});

test('two bodies with the same id but different contents stay two deliveries', async () => {
  const ran: unknown[] = [];
  const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on(
    'feedback:created',
    ({ payload }) => void ran.push(payload.message),
  );
  Object.assign(everyObject, { status: 100, updated_at: '2024-01-01T00:00:00Z' });
  for (const message of ['good', 'bad']) {
    const feedback = { id: 'fb_1', message };
    const { outcome } = await deliver(receiver, feedback, { event: 'feedback:created' });
    expect(outcome).toBe('handled');
  }
  expect(ran).toEqual(['good', 'bad']);
});
