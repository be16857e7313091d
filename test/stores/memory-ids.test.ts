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

test('a failed delivery keeps only as much of a long id as is needed', async () => {
  const store = memoryStore();
  const hooks = { onError() {}, onRejected() {} };
  const receiver = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', () =>
    Promise.reject(new Error('closed')),
  );
  const send = async (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      // Decoded from bytes, as by a server.
      const id = Buffer.from(`whl_${at}_${'x'.repeat(50_000)}`).toString();
      const payload = { id: `ord_${at}`, status: 100, email: 'a@example.com' };
      expect((await deliver(receiver, payload, { id })).status).toBe(500);
    }
  };
  await send(0, 50);
  const before = heapUsed();
  await send(50, 450);
  // The ids alone would be 20 MB.
  expect(heapUsed() - before).toBeLessThan(6_000_000);
  expect(await store.list({ state: 'failing', limit: 1 })).toHaveLength(1);
});
