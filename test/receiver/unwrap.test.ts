import {
  createReceiver,
  memoryStore,
  type SealedDelivery,
  type UnwrapFunction,
} from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

const hooks = { onRejected() {}, onError() {} };

/** A body of the form `{ kind, ref, order }`, which names its event. */
const unwrap: UnwrapFunction = ({ kind, ref, order }) =>
  kind === undefined
    ? undefined
    : { event: `order:${kind}`, id: typeof ref === 'string' ? ref : undefined, payload: order };

const NO_EVENT = { 'x-service-event': '' };

function shop(options: Partial<Parameters<typeof createReceiver>[0]> = {}) {
  const handler = vi.fn();
  const receiver = createReceiver({ secret: SECRET, unwrap, hooks, ...options });
  receiver.on('*', ({ event, id, payload }) => handler(event, id, payload));
  return { receiver, handler };
}

describe('a body that names its event', () => {
  const body = { kind: 'paid', ref: 'dlv_7', order: paidOrder() };

  test('needs no event header', async () => {
    const { receiver, handler } = shop();
    expect(await deliver(receiver, body, { headers: NO_EVENT })).toMatchObject({
      outcome: 'handled',
    });
    expect(handler).toHaveBeenCalledExactlyOnceWith('order:paid', 'dlv_7', paidOrder());
  });

  test('overrides headers that name another event and another delivery', async () => {
    const { receiver, handler } = shop();
    await deliver(receiver, body, { event: 'order:created', id: 'whl_forged' });
    expect(await deliver(receiver, body, { event: 'order:updated', id: 'whl_2' })).toMatchObject({
      outcome: 'duplicate',
    });
    expect(handler).toHaveBeenCalledExactlyOnceWith('order:paid', 'dlv_7', paidOrder());
  });

  test('overrides a repeated header', async () => {
    const { receiver } = shop();
    expect(await deliver(receiver, body, { event: 'order:paid, order:paid' })).toMatchObject({
      outcome: 'handled',
    });
  });

  test('leaves missing parts to the headers', async () => {
    const { receiver, handler } = shop({ unwrap: ({ order }) => ({ payload: order }) });
    await deliver(receiver, body, { event: 'order:updated', id: 'whl_2' });
    expect(handler).toHaveBeenCalledExactlyOnceWith('order:updated', 'whl_2', paidOrder());
  });

  test('may have another form, and is then the record', async () => {
    const { receiver, handler } = shop();
    await deliver(receiver, paidOrder());
    expect(handler).toHaveBeenCalledExactlyOnceWith('order:paid', 'whl_1', paidOrder());
    expect(await deliver(receiver, paidOrder(), { headers: NO_EVENT })).toMatchObject({
      status: 400,
    });
    expect(await deliver(receiver, [paidOrder()], { event: 'query:created' })).toMatchObject({
      status: 422,
    });
  });

  test('has to match the state that its event requires', async () => {
    const { receiver } = shop();
    const unpaid = { ...body, order: paidOrder({ status: 0 }) };
    expect(await deliver(receiver, unpaid, { headers: NO_EVENT })).toMatchObject({ status: 422 });
  });

  test('is not read before its signature is verified', async () => {
    const read = vi.fn(unwrap);
    const { receiver } = shop({ unwrap: read });
    expect(await deliver(receiver, body, { secret: 'another secret' })).toMatchObject({
      status: 401,
    });
    expect(read).not.toHaveBeenCalled();
  });

  test('is rejected if nothing names an event, also without unwrap', async () => {
    const { receiver } = shop({ unwrap: ({ order }) => ({ payload: order }) });
    for (const one of [receiver, shop({ unwrap: false }).receiver, shop({ unwrap: true }).receiver])
      expect(await deliver(one, body, { headers: NO_EVENT })).toMatchObject({ status: 400 });
  });
});

test('with unwrap: true, { event, data } needs no event header', async () => {
  const { receiver, handler } = shop({ unwrap: true });
  const body = { event: 'order:paid', data: paidOrder() };
  expect(await deliver(receiver, body, { headers: NO_EVENT })).toMatchObject({
    outcome: 'handled',
  });
  expect(handler).toHaveBeenCalledExactlyOnceWith('order:paid', 'whl_1', paidOrder());
});

test.each<[string, () => unknown]>([
  ['no payload', () => ({})],
  ['an event that is not text', () => ({ event: 7, payload: {} })],
  ['an empty id', () => ({ id: '', payload: {} })],
  ['a promise', async () => ({ payload: {} })],
  ['a promise that rejects', () => Promise.reject(new Error('buyer@example.com'))],
])(
  'an unwrap function that returns %s is reported, and the delivery is retried',
  async (_, give) => {
    const onError = vi.fn();
    const { receiver, handler } = shop({
      // A JavaScript program can return anything.
      unwrap: () => give() as never,
      hooks: { onError },
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'unwrap_invalid' });
    expect(`${onError.mock.calls[0]?.[0].message}`).not.toContain('buyer@');
    expect(handler).not.toHaveBeenCalled();
  },
);

test('a circular payload is reported, and does not hang', async () => {
  const onError = vi.fn();
  const { receiver } = shop({
    unwrap: (body) => ({ payload: Object.assign(body, { whole: body }) }),
    hooks: { onError },
  });
  expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500 });
  expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'unwrap_invalid' });
});

test('an id that has lost digits is rejected, also as text, because two orders could become one', async () => {
  const { receiver } = shop({
    unwrap: ({ order }) => ({ payload: { ...Object(order), id: `${Object(order).id}` } }),
  });
  const [a, b] = ['9007199254740993', '9007199254740991'].map((id) =>
    JSON.stringify({ order: paidOrder({ id: 0 }) }).replace('"id":0', `"id":${id}`),
  );
  expect(await deliver(receiver, a)).toMatchObject({ status: 422 });
  expect(await deliver(receiver, b)).toMatchObject({ outcome: 'handled' });
});

test('an id that has lost digits is rejected, also as a part of a text', async () => {
  const { receiver } = shop({
    unwrap: ({ order }) => ({ payload: { ...Object(order), id: `ord_${Object(order).id}` } }),
  });
  const body = JSON.stringify({ order: paidOrder({ id: 0 }) });
  const deliverId = (id: string) => deliver(receiver, body.replace('"id":0', `"id":${id}`));
  expect(await deliverId('9007199254740993')).toMatchObject({ status: 422 });
  expect(await deliverId('9007199254740991')).toMatchObject({ outcome: 'handled' });
});

test('an id that has lost digits is rejected if a schema of your own makes a text of it', async () => {
  const order = z.object({ id: z.coerce.string(), status: z.number(), email: z.string() });
  const events = { 'order:created': order, 'order:paid': order, 'order:updated': order };
  const { receiver } = shop({ unwrap: false, events });
  const deliverId = (id: string) => deliver(receiver, `{"id":${id},"status":100,"email":"a@b.c"}`);
  expect(await deliverId('1234567890123456789')).toMatchObject({ status: 422 });
  expect(await deliverId('12345678')).toMatchObject({ outcome: 'handled' });
  // Unchanged, so no other order becomes this one.
  expect(await deliverId('1234567890123456800')).toMatchObject({ outcome: 'handled' });
});

test('an id that has lost digits is rejected if a schema of your own makes a bigint of it', async () => {
  const order = z.object({ id: z.coerce.bigint(), status: z.number(), email: z.string() });
  const events = { 'order:created': order, 'order:paid': order, 'order:updated': order };
  const { receiver } = shop({ unwrap: false, events });
  const deliverId = (id: string, fields = '') =>
    deliver(receiver, `{"id":${id},"status":100,"email":"a@b.c"${fields}}`);
  expect(await deliverId('1234567890123456789')).toMatchObject({ status: 422 });
  expect(await deliverId('12345678')).toMatchObject({ outcome: 'handled' });
  // The text has kept all digits.
  const id = '1234567890123456791';
  expect(await deliverId(`"${id}"`, `,"number":${id}`)).toMatchObject({ outcome: 'handled' });
});

test.each([
  ['a long list of large numbers', `[${'90071992547409930,'.repeat(50_000)}1]`],
  ['an object that cannot become a text', '{"toString":90071992547409930}'],
])('an id that is %s is invalid like any other', async (_, id) => {
  const { receiver } = shop({ unwrap: ({ order }) => ({ payload: order }) });
  const body = JSON.stringify({ order: paidOrder({ id: 0 }) }).replace('"id":0', `"id":${id}`);
  expect(await deliver(receiver, body)).toMatchObject({ status: 422 });
});

test('a large number that is not the id is accepted', async () => {
  const { receiver } = shop({ unwrap: ({ order }) => ({ payload: order }) });
  const body = JSON.stringify({ order: paidOrder({ custom: { steam_id: 1 }, amount_paid: 2 }) })
    .replace('"steam_id":1', '"steam_id":76561198012345679')
    .replace('"amount_paid":2', '"amount_paid":20000000000000000');
  expect(await deliver(receiver, body)).toMatchObject({ outcome: 'handled' });
});

test('a queue gets the event and the id of the body, and its worker finds the same', async () => {
  const enqueue = vi.fn(async (_: SealedDelivery) => ({ id: '1' }));
  const queue = { durable: true, enqueue } as const;
  const store = memoryStore();
  const { receiver } = shop({ queue, store });
  const body = { kind: 'paid', ref: 'dlv_7', order: paidOrder() };
  await deliver(receiver, body, { headers: NO_EVENT });
  const [delivery] = enqueue.mock.calls[0] ?? [];
  if (!delivery) throw new Error('nothing is queued');
  expect(delivery).toMatchObject({ event: 'order:paid', id: 'dlv_7' });
  const worker = shop({ store });
  const result = await worker.receiver.dispatch(delivery);
  expect(result).toMatchObject({ outcome: 'handled', key: delivery.key });
  expect(worker.handler).toHaveBeenCalledExactlyOnceWith('order:paid', 'dlv_7', paidOrder());
});
