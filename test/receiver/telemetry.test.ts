import { createReceiver, type Telemetry } from 'storefront-webhooks';
import { expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

const hooks = { onError() {}, onRejected() {} };

function watching() {
  return {
    delivery: vi.fn<Telemetry['delivery']>((_, run) => run()),
    handler: vi.fn<Telemetry['handler']>((_, run) => run()),
    rejected: vi.fn<Telemetry['rejected']>(),
    failed: vi.fn<Telemetry['failed']>(),
    traceparent: () => '00-trace',
  };
}

test('telemetry gets each delivery and each handler, but nothing of the payload', async () => {
  const telemetry = watching();
  const receiver = createReceiver({ secret: SECRET, telemetry, hooks, scope: 'shop' });
  receiver.on('order:paid', ({ payload }) => payload, { name: 'mail' });
  receiver.on('*', () => {}, { name: 'audit' });
  await deliver(receiver, paidOrder());
  expect(telemetry.delivery).toHaveBeenCalledExactlyOnceWith(
    {
      id: 'whl_1',
      event: 'order:paid',
      kind: 'known',
      scope: 'shop',
      source: 'webhook',
      bytes: JSON.stringify(paidOrder()).length,
      action: 'process',
      traceparent: undefined,
      startedAt: expect.any(Number),
    },
    expect.any(Function),
  );
  expect(telemetry.handler.mock.calls.map(([about]) => about)).toEqual([
    { name: 'mail', attempt: 1 },
    { name: 'audit', attempt: 1 },
  ]);
  expect(await telemetry.handler.mock.results[0]?.value).toBeUndefined();
});

test('telemetry gets each rejection', async () => {
  const telemetry = watching();
  const receiver = createReceiver({ secret: SECRET, telemetry, hooks });
  await deliver(receiver, paidOrder(), { secret: 'another' });
  expect(telemetry.rejected).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ code: 'signature_invalid' }),
    expect.any(Number),
  );
  expect(telemetry.delivery).not.toHaveBeenCalled();
});

test('telemetry gets the configuration errors of a receiver', async () => {
  const telemetry = watching();
  const secret = async () => {
    throw new Error('no such shop');
  };
  await deliver(createReceiver({ secret, telemetry, hooks }), paidOrder());
  expect(telemetry.failed).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ message: 'no such shop' }),
    expect.any(Number),
  );
});

test('a trace travels with a delivery through the queue', async () => {
  const enqueue = vi.fn(async () => ({ id: '1' }));
  const telemetry = watching();
  const queue = { durable: true, enqueue } as const;
  const receiver = createReceiver({ secret: SECRET, telemetry, queue, hooks });
  await deliver(receiver, paidOrder());
  expect(telemetry.delivery.mock.calls[0]?.[0]).toMatchObject({ action: 'send' });
  const [sealed] = enqueue.mock.calls[0] as unknown as [never];
  expect(sealed).toMatchObject({ traceparent: '00-trace' });
  await receiver.dispatch(sealed);
  expect(telemetry.delivery.mock.calls[1]?.[0]).toMatchObject({
    action: 'process',
    source: 'queue',
    traceparent: '00-trace',
  });
});

const broken = () => {
  throw new Error('telemetry');
};

test.each<[string, Partial<Telemetry>]>([
  ['throws at once', { delivery: broken, handler: broken, rejected: broken }],
  ['rejects', { delivery: async () => broken(), handler: async () => broken() }],
  ['throws once it has run', { delivery: (_, run) => [run(), broken()] }],
  ['never runs anything', { delivery: () => {}, handler: () => {} }],
  ['runs everything twice', { handler: (_, run) => [run(), run()] }],
  ['returns another value', { delivery: () => 1, handler: async () => 2 }],
  ['has no trace', { traceparent: broken }],
])('telemetry that %s changes nothing', async (_, changes) => {
  const telemetry = { ...watching(), ...changes };
  const handler = vi.fn();
  const receiver = createReceiver({ secret: SECRET, telemetry, hooks }).on('order:paid', handler);
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(handler).toHaveBeenCalledOnce();
  expect(await deliver(receiver, paidOrder(), { secret: 'another' })).toMatchObject({
    status: 401,
  });
  handler.mockImplementation(broken);
  expect(await deliver(receiver, paidOrder(), { id: 'whl_2' })).toMatchObject({
    outcome: 'failed',
  });
});

test('an object that is not telemetry is rejected', () => {
  expect(() => createReceiver({ secret: SECRET, telemetry: {} as never })).toThrow(
    'createReceiver: the option telemetry has to be openTelemetry().',
  );
});
