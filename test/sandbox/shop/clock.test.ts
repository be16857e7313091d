import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { shopRoutes } from '../../../src/sandbox/shop/routes.js';
import { openShop } from '../webhooks/shop.js';
import { marketsOf } from './visitor.js';

test('a fast clock does not run ahead of a form that a customer is about to send', async () => {
  const { market, account } = openShop({ clock: 'fast' });
  const { readable, writable } = new TransformStream();
  const writer = writable.getWriter();
  const body = new TextEncoder().encode('email=a%40b.example&title=T&message=M');
  const answered = shopRoutes(marketsOf(market)).request('/shop/shop/contact', {
    method: 'POST',
    body: readable,
    ...{ duplex: 'half' },
  });
  let hasRun = false;
  account.clock.setTimer(account.clock.now() + 60_000, () => {
    hasRun = true;
  });
  await sleep(100);
  expect(hasRun).toBe(false);
  await writer.write(body);
  await writer.close();
  expect((await answered).status).toBe(303);
  await vi.waitFor(() => expect(hasRun).toBe(true));
  expect([...account.queries]).toHaveLength(1);
});
