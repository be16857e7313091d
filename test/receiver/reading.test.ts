import { createReceiver } from 'storefront-webhooks';
import { expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

const hooks = { onRejected() {} };

test('unwrap reads the record in { event, data }', async () => {
  const handler = vi.fn();
  const receiver = createReceiver({ secret: SECRET, unwrap: true }).on('order:paid', handler);
  await deliver(receiver, { event: 'order:paid', data: paidOrder() });
  expect(handler.mock.calls[0]?.[0].payload).toMatchObject(paidOrder());
  // The same content is the same delivery, wrapped or not.
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
});

test('a wrapped event name has to match the header', async () => {
  const receiver = createReceiver({ secret: SECRET, unwrap: true, hooks }).on('*', () => {});
  expect(await deliver(receiver, { event: 'order:created', data: paidOrder() })).toMatchObject({
    status: 422,
  });
});

test('without unwrap, a wrapped order is invalid', async () => {
  const receiver = createReceiver({ secret: SECRET, hooks }).on('*', () => {});
  expect(await deliver(receiver, { event: 'order:paid', data: paidOrder() })).toMatchObject({
    status: 422,
  });
});

test('paidStatuses sets the allowed states of an order:paid', async () => {
  const receiver = createReceiver({ secret: SECRET, paidStatuses: [100, 54], hooks }).on(
    '*',
    () => {},
  );
  expect(await deliver(receiver, paidOrder({ status: 54 }))).toMatchObject({ status: 200 });
  expect(await deliver(receiver, paidOrder({ status: 53 }))).toMatchObject({ status: 422 });
});

test('maxAge rejects a payload whose updated_at is too old or not a time', async () => {
  const receiver = createReceiver({ secret: SECRET, maxAge: 60_000, hooks }).on('*', () => {});
  const aged = (ms: number) => paidOrder({ updated_at: new Date(Date.now() - ms).toISOString() });
  expect(await deliver(receiver, aged(0))).toMatchObject({ status: 200 });
  expect(await deliver(receiver, aged(120_000))).toMatchObject({ status: 422 });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  for (const odd of ['01/02 whatever', '', 1, null, [], { toString: 1 }, tomorrow, '+9999-01-01']) {
    const payload = paidOrder({ updated_at: odd });
    expect(await deliver(receiver, payload), `${JSON.stringify(odd)}`).toMatchObject({
      status: 422,
    });
  }
  const inSeconds = paidOrder({ updated_at: Math.floor(Date.now() / 1000) });
  expect(await deliver(receiver, inSeconds)).toMatchObject({ status: 200 });
  // A clock may be a little ahead.
  expect(await deliver(receiver, aged(-4 * 60_000))).toMatchObject({ status: 200 });
  expect(await deliver(receiver, aged(-6 * 60_000))).toMatchObject({ status: 422 });
  // Without a time in the payload, the receiver cannot know its age.
  expect(await deliver(receiver, {}, { event: 'query:created' })).toMatchObject({ status: 200 });
});

test('headerPrefix sets the names of the headers', async () => {
  const receiver = createReceiver({ secret: SECRET, headerPrefix: 'X-Brand-' }).on('*', () => {});
  const reply = await deliver(receiver, paidOrder());
  expect(reply).toMatchObject({ status: 401 });
});

type Receive = ReturnType<typeof createReceiver>['receive'];

test.each<[string, (request: Parameters<Receive>[0]) => Parameters<Receive>[0]]>([
  [
    'a Fetch Headers object',
    (request) => ({ ...request, headers: new Headers(toPairs(request.headers)) }),
  ],
  [
    'a plain object with any case',
    (request) => ({
      ...request,
      headers: Object.fromEntries(
        toPairs(request.headers).map(([name, value]) => [name.toUpperCase(), value]),
      ),
    }),
  ],
  [
    'a plain object with lists',
    (request) => ({
      ...request,
      headers: Object.fromEntries(toPairs(request.headers).map(([name, value]) => [name, [value]])),
    }),
  ],
])('headers are found in %s', async (_, change) => {
  const receiver = createReceiver({ secret: SECRET }).on('*', () => {});
  const changed = {
    receive: (request: Parameters<Receive>[0]) => receiver.receive(change(request)),
  };
  expect(await deliver(changed, paidOrder())).toMatchObject({ status: 200 });
});

function toPairs(headers: object): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, String(value)]);
}
