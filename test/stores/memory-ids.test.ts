import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { expect, test } from 'vitest';
import { deliver, SECRET } from '../support/deliver.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function heapUsed(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

test('what fails keeps no more of a long id than is needed to know it', async () => {
  const store = memoryStore();
  const hooks = { onError() {}, onRejected() {} };
  const receiver = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', () =>
    Promise.reject(new Error('closed')),
  );
  const send = async (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      // Made of bytes, as a server makes it.
      const id = Buffer.from(`whl_${at}_${'x'.repeat(50_000)}`).toString();
      const payload = { id: `ord_${at}`, status: 100, email: 'a@example.com' };
      expect((await deliver(receiver, payload, { id })).status).toBe(500);
    }
  };
  await send(0, 50);
  const before = heapUsed();
  await send(50, 450);
  // Of their ids alone it would be 20 MB.
  expect(heapUsed() - before).toBeLessThan(6_000_000);
  expect(await store.list({ state: 'failing', limit: 1 })).toHaveLength(1);
});
