import { inspect } from 'node:util';
import {
  createReceiver,
  type SealedDelivery,
  seal,
  type UnsignedRequest,
} from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const SENT = {
  url: '/webhooks/main?order=17&order=18&to=a?b',
  headers: {
    'X-Shop': 'main',
    Cookie: 'session=1',
    // A header may be sent twice, and a runtime may keep both.
    cookie: 'session=1',
    Authorization: 'Bearer 1',
    'Proxy-Authorization': 'Basic 1',
  },
};

function expectSent(request: UnsignedRequest): void {
  expect(request.path).toBe('/webhooks/main');
  expect([...request.query]).toEqual([
    ['order', '17'],
    ['order', '18'],
    ['to', 'a?b'],
  ]);
  expect(request.headers).toMatchObject({ 'x-shop': 'main', 'x-service-event': 'order:paid' });
  expect(request.headers).not.toHaveProperty('cookie');
  expect(request.headers).not.toHaveProperty('authorization');
  expect(request.headers).not.toHaveProperty('proxy-authorization');
  expect(request.headers).not.toHaveProperty('x-service-signature');
}

test('a handler gets the address of its delivery, without credentials and signature', async () => {
  const seen: UnsignedRequest[] = [];
  const receiver = createReceiver({ secret: SECRET }).on('order:paid', ({ request }) => {
    seen.push(request);
  });
  await deliver(receiver, paidOrder(), SENT);
  expect(seen).toHaveLength(1);
  seen.map(expectSent);
});

test('printing an event, or the result of verify, does not print the signature and credentials', async () => {
  const printed: string[] = [];
  const print = (value: unknown) => {
    printed.push(inspect(value, { depth: 9 }));
    printed.push(JSON.stringify(value));
  };
  const receiver = createReceiver({ secret: SECRET }).on('order:paid', (event) => {
    print(event);
    print(event.request);
  });
  const body = Buffer.from(JSON.stringify(paidOrder()));
  const signature = sign(body, SECRET);
  const own = { 'X-Service-Signature': signature, 'X-Service-Event': 'order:paid' };
  const request = { method: 'POST', url: SENT.url, headers: { ...SENT.headers, ...own }, body };
  await receiver.receive(request);
  const delivery = await receiver.verify(request);
  if (delivery.outcome === 'rejected') throw delivery;
  print(delivery);
  print({ ...delivery });
  expect(delivery.request.headers).toBe(request.headers);
  expect(seal(delivery).proof).toContain(signature);
  expect(printed).toHaveLength(8);
  for (const text of printed) {
    expect(text).not.toContain(signature);
    expect(text).not.toMatch(/session=1|Bearer 1|Basic 1/);
  }
});

test('a handler gets the same from a queue and after a redrive', async () => {
  const store = durableStore();
  const seen: UnsignedRequest[] = [];
  const enqueue = vi.fn(async (_: SealedDelivery) => ({ id: '1' }));
  const sender = createReceiver({ secret: SECRET, store, queue: { durable: true, enqueue } });
  await deliver(sender, paidOrder(), SENT);
  const worker = createReceiver({ secret: SECRET, store, hooks: { onError() {} } });
  worker.on('order:paid', ({ request }) => {
    seen.push(request);
    if (seen.length === 1) throw new Error('not today');
  });
  const [delivery] = enqueue.mock.calls[0] ?? [];
  if (!delivery) throw new Error('nothing is queued');
  await worker.dispatch(delivery, { lastAttempt: true });
  const [dead] = await store.list({ state: 'dead' });
  if (!dead) throw new Error('nothing is dead');
  await worker.redrive(dead);
  expect(seen).toHaveLength(2);
  seen.map(expectSent);
});

test('the unsigned address decides nothing: the same delivery to another address is a duplicate', async () => {
  const receiver = createReceiver({ secret: SECRET }).on('order:paid', () => {});
  await deliver(receiver, paidOrder(), SENT);
  const result = await deliver(receiver, paidOrder(), { url: '//odd?%zz', headers: {} });
  expect(result).toMatchObject({ outcome: 'duplicate' });
});
