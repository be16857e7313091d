import type { Receiver } from 'storefront-webhooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';

let receiver: Receiver;
const log = vi.spyOn(console, 'log').mockReturnValue();
const warn = vi.spyOn(console, 'warn').mockReturnValue();

beforeEach(async () => {
  process.env.WEBHOOK_SECRET = SECRET;
  ({ receiver } = await import('../../../examples/recipes/test-button.js'));
});
afterEach(() => {
  delete process.env.WEBHOOK_SECRET;
  log.mockClear();
});

test.each([{ simulator: true }, { dummy: 'data', id: 'ord_9', status: 100, email: 'a@b.example' }])(
  'a delivery of the test button is answered 200, and delivers nothing: %j',
  async (body) => {
    expect(await deliver(receiver, body)).toMatchObject({ status: 200, outcome: 'ignored' });
    expect(log).not.toHaveBeenCalled();
  },
);

test('a forged delivery is rejected, and a paid order is delivered', async () => {
  const forged = await deliver(receiver, { simulator: true }, { secret: 'another secret' });
  expect(forged).toMatchObject({ status: 401 });
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(log).toHaveBeenCalledExactlyOnceWith('Delivered order ord_1');
});

test('a paid order that says it is no simulation is delivered', async () => {
  const real = { ...paidOrder(), id: 'ord_2', simulator: false, dummy: null };
  expect(await deliver(receiver, real)).toMatchObject({ outcome: 'handled' });
  expect(log).toHaveBeenCalledExactlyOnceWith('Delivered order ord_2');
});

test('stderr reports that the event has no handler', () => {
  expect(warn.mock.calls.join('\n')).toContain('"test"');
});
