import { createReceiver, memoryStore } from 'storefront-webhooks';

import { afterEach, expect, test } from 'vitest';
import { orderSchema } from '../../src/schemas/order.js';
import { deliver, SECRET } from '../support/deliver.js';

const everyObject: Record<string, unknown> = Object.prototype as never;
afterEach(() => {
  for (const name of ['status', 'gateway', 'colour', 'id']) delete everyObject[name];
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
