import { once } from 'node:events';
import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  createReceiver,
  type IdempotencyStore,
  memoryStore,
  type ReceiverOptions,
  type RejectionInfo,
} from 'storefront-webhooks';
import { type ConfirmOptions, confirmOrders, createClient } from 'storefront-webhooks/api';
import { toNodeHandler } from 'storefront-webhooks/node';
import { openTelemetry } from 'storefront-webhooks/opentelemetry';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findDisagreements } from '../../src/api/agreement.js';
import { collecting } from '../opentelemetry/collected.js';
import { TUNER } from '../sandbox/seller.js';
import { startListener } from '../sandbox/webhooks/listener.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { gate } from '../support/gate.js';
import { ended } from '../support/patience.js';

const KEY = 'sk_test_confirm';

/** Serves a storefront with a paid order, and records the requests for it. */
async function openStorefront() {
  const sandbox = createSandbox({ webhookSecret: SECRET });
  const { url } = await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const account = sandbox.account(KEY);
  const client = createClient({ baseUrl: url, auth: { accessToken: KEY }, retries: 0 });
  const product = await client.products.create(TUNER);
  const buy = async () => {
    const { id } = await account.buy({ product_id: product.id, gateway: 'paypal' });
    return client.orders.get(id);
  };
  const pay = async (id: string) => {
    await account.pay(id);
    return client.orders.get(id);
  };
  return { url, account, client, buy, pay, paid: await pay((await buy()).id) };
}

/** A receiver that confirms its orders at the storefront, with its handler and its reports. */
function openReceiver(
  baseUrl: string,
  options: ConfirmOptions = {},
  { store = memoryStore(), ...more }: Partial<Omit<ReceiverOptions, 'events'>> = {},
  retries = 0,
) {
  const asked = vi.fn((url: string, init: Parameters<typeof fetch>[1]) => fetch(url, init));
  const auth = { accessToken: KEY };
  const client = createClient({ baseUrl, auth, retries, fetch: asked });
  const { tracerProvider, meterProvider, ...collected } = collecting();
  const told: unknown[] = [];
  const refused: RejectionInfo[] = [];
  const ship = vi.fn();
  const receiver = createReceiver({
    secret: SECRET,
    store: store as IdempotencyStore,
    confirm: confirmOrders(client, options),
    telemetry: openTelemetry({ tracerProvider, meterProvider }),
    hooks: { onError: (error) => told.push(error), onRejected: (info) => refused.push(info) },
    ...more,
  }).on('order:*', ship);
  onTestFinished(() => receiver.close());
  const counted = async () => {
    const points = await collected.points('storefront_webhooks.confirmations');
    return Object.fromEntries(
      points.map((point) => {
        const { value, 'storefront_webhooks.confirmation': result } = { ...NO_RESULT, ...point };
        return [result, value];
      }),
    );
  };
  return { receiver, ship, asked, told, refused, counted };
}

/** Fakes timers, so that time limits that start afterwards end only by `vi.advanceTimersByTimeAsync()`. */
function holdTimeLimits(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const late = new AbortController();
    setTimeout(() => late.abort(new DOMException('It took too long.', 'TimeoutError')), ms);
    return late.signal;
  });
  onTestFinished(() => {
    vi.useRealTimers();
    timeout.mockRestore();
  });
}

const NO_RESULT = { 'storefront_webhooks.confirmation': '' };

test('a receiver confirms every webhook of a sale with the storefront over HTTP', async () => {
  const { url, account, client, buy, pay } = await openStorefront();
  const { receiver, ship, asked, refused } = openReceiver(url);
  const server = createServer(toNodeHandler(receiver));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('it does not listen');
  await client.webhookEndpoints.create({
    url: `http://127.0.0.1:${address.port}/webhooks`,
    events: ['order:created', 'order:paid', 'order:updated'],
  });
  const { id } = await buy();
  await pay(id);
  await account.idle();
  await account.refund(id);
  await account.idle();
  expect(refused).toEqual([]);
  const ran = ship.mock.calls.map(([{ event, payload }]) => `${event} ${payload.status}`);
  expect(ran).toEqual(expect.arrayContaining(['order:paid 100', 'order:updated 56']));
  expect(asked.mock.calls.length).toBeLessThanOrEqual(ran.length);
});

describe('an order that was forged with the secret', () => {
  test.each([
    ['id', 'ord_forged'],
    ['id', '..'],
    ['id', 'ord_\ud800'],
    ['product_id', 'prd_dear'],
    ['email', 'thief@example.com'],
    ['value', '0.01'],
    ['value', '9.900001'],
    // A difference that a double cannot represent.
    ['value', '9.9000000000000000000001'],
    ['currency', 'USD'],
    ['quantity', 100],
  ])('is rejected if its %s is %j', async (field, forged) => {
    const { url, paid } = await openStorefront();
    const { receiver, ship, refused, told, counted } = openReceiver(url);
    const reply = await deliver(receiver, { ...paid, [field]: forged });
    expect(reply).toMatchObject({ status: 422, outcome: 'rejected' });
    expect(JSON.parse(reply.body).errors).toEqual([`${field} is not as expected`]);
    expect(refused).toMatchObject([{ code: 'payload_invalid', verified: true }]);
    expect(refused[0]?.issues.map(({ path }) => path)).toEqual([field]);
    // The digests of a receipt contain random digits.
    const said = reply.body.replace(/v1\.rejected\.\d+(\.[0-9a-f]{64}){2}/, '');
    expect(said).not.toBe(reply.body);
    for (const shown of [JSON.stringify(refused[0]?.issues), said])
      expect(shown).not.toContain(`${forged}`);
    expect(ship).not.toHaveBeenCalled();
    expect(told).toEqual([]);
    expect(await counted()).toEqual({ disagreed: 1 });
    // The rejected delivery has not used up the order.
    expect(await deliver(receiver, paid)).toMatchObject({ outcome: 'handled' });
  });

  test('is accepted if it only lacks fields of the real one', async () => {
    const { url, paid } = await openStorefront();
    const { receiver } = openReceiver(url);
    const { id, status, email } = paid;
    expect(await deliver(receiver, { id, status, email })).toMatchObject({ outcome: 'handled' });
  });

  test('is accepted if an amount is only written differently', async () => {
    const { url, paid } = await openStorefront();
    const { receiver } = openReceiver(url);
    const value = `0${paid.value}000`;
    expect(await deliver(receiver, { ...paid, value })).toMatchObject({ outcome: 'handled' });
  });
});

describe('the title of what was sold', () => {
  const PAYMENT = { title: 'Sticker', email: 'buyer@example.com', currency: 'EUR', value: '1.00' };
  const openPayment = async () => {
    const storefront = await openStorefront();
    const { id } = await storefront.client.payments.create({
      ...PAYMENT,
      ...{ gateway: 'paypal', white_label: true },
    });
    return { ...storefront, payment: await storefront.pay(id) };
  };
  const forged = { product_title: 'Lifetime licence' };

  test('of a payment has to agree, because nothing else says what was sold', async () => {
    const { url, payment } = await openPayment();
    const { receiver, ship, refused } = openReceiver(url);
    expect(await deliver(receiver, { ...payment, ...forged })).toMatchObject({ status: 422 });
    expect(refused[0]?.issues).toEqual([
      { path: 'product_title', message: 'differs from the order' },
    ]);
    expect(ship).not.toHaveBeenCalled();
    expect(await deliver(receiver, payment)).toMatchObject({ outcome: 'handled' });
  });

  test('of a product may differ, because the seller may have renamed it', async () => {
    const { url, paid } = await openStorefront();
    const { receiver, asked } = openReceiver(url);
    const renamed = { ...paid, product_title: 'Old name' };
    expect(await deliver(receiver, renamed)).toMatchObject({ outcome: 'handled' });
    expect(asked.mock.calls.map(([address]) => new URL(address).pathname)).toEqual([
      `/api/v2/orders/${paid.id}`,
      `/api/v2/products/${paid.product_id}`,
    ]);
  });

  test('of a product of the other variant may differ as well', async () => {
    const { url, paid } = await openStorefront();
    const auth = { accessToken: KEY };
    const older = createClient({ baseUrl: url, auth, variant: 'older', retries: 0 });
    const { receiver } = openReceiver(url, {}, { confirm: confirmOrders(older) });
    const renamed = { ...paid, product_title: 'Old name' };
    expect(await deliver(receiver, renamed)).toMatchObject({ outcome: 'handled' });
  });

  test('is not taken on trust if the product cannot be fetched, even if whenDown is accept', async () => {
    const { url, account, payment } = await openPayment();
    const { receiver, ship } = openReceiver(url, { whenDown: 'accept' });
    account.faults.add({ operation: 'products.get', status: 503 });
    expect(await deliver(receiver, { ...payment, ...forged })).toMatchObject({ status: 503 });
    expect(ship).not.toHaveBeenCalled();
  });

  test('is not compared by a client that reads no products', async () => {
    const { client, url, payment } = await openPayment();
    const confirm = confirmOrders({ orders: client.orders });
    const { receiver } = openReceiver(url, {}, { confirm });
    expect(await deliver(receiver, { ...payment, ...forged })).toMatchObject({
      outcome: 'handled',
    });
  });
});

describe('a delivery is rejected', () => {
  test.each(['order:paid', 'order:updated'])(
    'if its order was refunded in the meantime: %s',
    async (event) => {
      const { url, account, paid } = await openStorefront();
      await account.refund(paid.id);
      const { receiver, ship, refused } = openReceiver(url);
      expect(await deliver(receiver, paid, { event })).toMatchObject({ status: 422 });
      expect(refused[0]?.issues).toEqual([
        { path: 'status', message: 'is paid, but the status of the order is 56 (refunded)' },
      ]);
      expect(ship).not.toHaveBeenCalled();
    },
  );

  test('unless paidStatuses includes the current status', async () => {
    const { url, account, paid } = await openStorefront();
    await account.refund(paid.id);
    const { receiver } = openReceiver(url, {}, { paidStatuses: [100, 56] });
    expect(await deliver(receiver, paid)).toMatchObject({ outcome: 'handled' });
  });

  test('if its order is older at the storefront, but not if it is newer', async () => {
    const { url, buy, pay } = await openStorefront();
    const { receiver, refused } = openReceiver(url);
    const bought = await buy();
    await pay(bought.id);
    const event = 'order:updated';
    expect(await deliver(receiver, bought, { event })).toMatchObject({ outcome: 'handled' });
    const ahead = { ...bought, updated_at: '2999-01-01T00:00:00Z' };
    expect(await deliver(receiver, ahead, { event })).toMatchObject({ status: 422 });
    expect(refused[0]?.issues).toMatchObject([{ path: 'updated_at' }]);
  });
});

describe('the time of a delivery', () => {
  const check = (stated: string, known: string) => {
    const state = { id: 'ord_1', status: 56, email: 'a@example.com' } as const;
    const at = (second: string) => ({ ...state, updated_at: `2026-11-20T10:00:${second}` });
    const order = { payload: at(stated), event: 'order:updated', scope: '' };
    const paidStatuses = [100] as const;
    return findDisagreements({ ...order, paidStatuses }, at(known)).map(({ path }) => path);
  };

  test.each([
    ['05.741014Z', '05.741Z'],
    ['05.741014+00:00', '05Z'],
    ['05.5Z', '05.000000Z'],
    ['05Z', '05.741014Z'],
  ])('may be finer than that of its order, as %s than %s', (stated, known) => {
    expect(check(stated, known)).toEqual([]);
  });

  test.each([
    ['06Z', '05Z'],
    ['05.742Z', '05.741Z'],
    ['05.741014Z', '05.741013Z'],
    ['05.1Z', '05.000001Z'],
  ])('is rejected if it is later than that of its order, as %s than %s', (stated, known) => {
    expect(check(stated, known)).toEqual(['updated_at']);
  });
});

describe('a delivery gets', () => {
  test.each([503, 500, 429, 401, 403] as const)(
    '503 while the storefront answers %s, and is handled later',
    async (status) => {
      const { url, account, paid } = await openStorefront();
      const { receiver, ship, told, counted } = openReceiver(url);
      account.faults.add({ operation: 'orders.get', status });
      expect(await deliver(receiver, paid)).toMatchObject({ status: 503, outcome: 'unavailable' });
      expect(ship).not.toHaveBeenCalled();
      expect(told).toMatchObject([{ code: 'confirmation_unavailable', cause: { status } }]);
      expect(`${told[0]}`).not.toContain(paid.email);
      expect(await deliver(receiver, paid)).toMatchObject({ outcome: 'handled' });
      expect(ship.mock.calls[0]?.[0]).toMatchObject({ attempt: 1 });
      expect(await counted()).toEqual({ unavailable: 1, agreed: 1 });
    },
  );

  test('the retries of its client, and no more, if the storefront fails', async () => {
    const { url, account, paid } = await openStorefront();
    const { receiver, asked } = openReceiver(url, {}, {}, 2);
    account.faults.add({ operation: 'orders.get', status: 500 });
    expect(await deliver(receiver, paid)).toMatchObject({ outcome: 'handled' });
    expect(asked).toHaveBeenCalledTimes(2);
    account.faults.add({ operation: 'orders.get', status: 500, times: 9 });
    const other = openReceiver(url, {}, {}, 2);
    expect(await deliver(other.receiver, paid)).toMatchObject({ status: 503 });
    expect(other.asked).toHaveBeenCalledTimes(3);
  });

  test('200 handled while the storefront is down if whenDown is accept; the outage is reported once a minute', async () => {
    const { paid } = await openStorefront();
    const listener = await startListener();
    await listener.close();
    const { receiver, ship, told, counted } = openReceiver(listener.origin, { whenDown: 'accept' });
    for (const id of ['one', 'two', 'three'])
      expect(await deliver(receiver, paid, { id })).toMatchObject({ outcome: 'handled' });
    expect(ship).toHaveBeenCalledTimes(3);
    expect(told).toMatchObject([
      { code: 'confirmation_unavailable', cause: { code: 'unreachable' } },
    ]);
    expect(await counted()).toEqual({ unavailable: 3 });
  });

  test.each([503, 500] as const)(
    '200 handled while the storefront answers %s, if whenDown is accept',
    async (status) => {
      const { url, account, paid } = await openStorefront();
      const { receiver } = openReceiver(url, { whenDown: 'accept' });
      account.faults.add({ operation: 'orders.get', status });
      expect(await deliver(receiver, paid)).toMatchObject({ outcome: 'handled' });
    },
  );

  // The sender may have caused these, or the credentials are wrong for as long as no one looks.
  test.each([429, 401, 403, 406] as const)(
    '503 while the storefront answers %s, even if whenDown is accept',
    async (status) => {
      const { url, account, paid } = await openStorefront();
      const { receiver, ship } = openReceiver(url, { whenDown: 'accept' });
      account.faults.add({ operation: 'orders.get', status });
      expect(await deliver(receiver, paid)).toMatchObject({ status: 503, outcome: 'unavailable' });
      expect(ship).not.toHaveBeenCalled();
      expect(await deliver(receiver, paid)).toMatchObject({ outcome: 'handled' });
    },
  );

  test('503 if the time is over in a pause that the storefront asked for, even if whenDown is accept', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(50));
    onTestFinished(() => void vi.restoreAllMocks());
    const client = createClient({
      baseUrl: 'https://shop.example',
      auth: { accessToken: KEY },
      fetch: async () => Response.json({}, { status: 429, headers: { 'retry-after': '30' } }),
    });
    const confirm = confirmOrders(client, { whenDown: 'accept' });
    const receiver = createReceiver({ secret: SECRET, store: memoryStore(), confirm });
    const ship = vi.fn();
    receiver.on('order:paid', ship);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'unavailable' });
    expect(ship).not.toHaveBeenCalled();
  });

  test.each([400, 414, 431, 500, 'reset'] as const)(
    '503 if its id may be why the storefront answers %s, even if whenDown is accept',
    async (answer) => {
      const listener = await startListener();
      onTestFinished(() => listener.close());
      listener.answer(answer);
      const { receiver, ship } = openReceiver(listener.origin, { whenDown: 'accept' });
      for (const id of ['x'.repeat(20_000), 'ord_\0', "ord_'", 'ord_ü', 'ord/1']) {
        const reply = await deliver(receiver, { ...paidOrder(), id });
        expect(reply).toMatchObject({ status: 503, outcome: 'unavailable' });
      }
      expect(ship).not.toHaveBeenCalled();
    },
  );

  test('an answer of the receiver within 5 s, even if the storefront hangs', async () => {
    const { paid } = await openStorefront();
    const listener = await startListener();
    onTestFinished(() => listener.close());
    const asked = new Promise<void>((resolve) => {
      listener.answer((_, number) => {
        if (number === 2) resolve();
        return 'hang';
      });
    });
    holdTimeLimits();
    const refusing = openReceiver(listener.origin);
    const accepting = openReceiver(listener.origin, { whenDown: 'accept' });
    // A client whose fetch ignores its signal.
    const get = () => new Promise<never>(() => {});
    const deaf = confirmOrders({ orders: { get } }, { whenDown: 'accept' });
    const waiting = openReceiver(listener.origin, {}, { confirm: deaf });
    const answered = vi.fn();
    const replies = [refusing, accepting, waiting].map(async ({ receiver }) => {
      const reply = await deliver(receiver, paid);
      answered();
      return reply;
    });
    await asked;
    await vi.advanceTimersByTimeAsync(4_999);
    expect(answered).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await ended(Promise.all(replies), 'the wait for the storefront')).toMatchObject([
      { status: 503, outcome: 'unavailable' },
      { status: 200, outcome: 'handled' },
      { status: 200, outcome: 'handled' },
    ]);
  });
});

test('an order for which a reader without types returns nothing does not exist', async () => {
  // @ts-expect-error: The type asks for an order, or for a rejection.
  const confirm = confirmOrders({ orders: { get: async () => undefined } });
  const receiver = createReceiver({ secret: SECRET, confirm, hooks: { onRejected: () => {} } });
  receiver.onPaid(() => {});
  expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 422 });
});

test('an order whose request has hung for 5 s is requested anew with the next delivery', async () => {
  const { url, paid } = await openStorefront();
  const { receiver, asked } = openReceiver(url);
  holdTimeLimits();
  const { open: sent, opened: isSent } = gate();
  asked.mockImplementationOnce((_, init) => {
    sent();
    return new Promise((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  });
  const first = deliver(receiver, paid);
  await isSent;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await first).toMatchObject({ status: 503 });
  const second = ended(deliver(receiver, paid), 'the second delivery');
  expect(await second).toMatchObject({ outcome: 'handled' });
  expect(asked).toHaveBeenCalledTimes(2);
});

/** Workers cancel a request if its sender hangs up, and then its promises never settle. */
describe('an order whose request was cancelled', () => {
  const open = (options?: ConfirmOptions) => {
    const order = { id: 'ord_1', status: 100, email: 'a@b.example', product_title: 'Game' };
    const get = vi.fn(async () => order);
    get.mockImplementationOnce(() => new Promise(() => {}));
    holdTimeLimits();
    const confirm = confirmOrders({ orders: { get } }, options);
    const ask = () =>
      confirm({ payload: order, event: 'order:paid', scope: '', paidStatuses: [100] });
    return { ask, get };
  };

  test('is requested anew 5 s later', async () => {
    const { ask, get } = open();
    void ask();
    await vi.advanceTimersByTimeAsync(4_999);
    const early = ask();
    await vi.advanceTimersByTimeAsync(1);
    expect(await ended(ask(), 'the retry')).toEqual({ state: 'agreed', kept: false });
    expect(get).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(await early).toMatchObject({ state: 'unavailable' });
  });

  test('is not accepted for another delivery, even if whenDown is accept', async () => {
    const { ask, get } = open({ whenDown: 'accept' });
    const cancelled = ask();
    const forged = ask();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await forged).toMatchObject({ state: 'unavailable', accepts: false });
    // The sender of the first one has not hung up.
    expect(await cancelled).toMatchObject({ state: 'unavailable', accepts: true });
    expect(get).toHaveBeenCalledOnce();
  });
});

describe('a confirmed order', () => {
  test('is not requested again, and not twice at the same time', async () => {
    const { url, paid } = await openStorefront();
    const { receiver, asked, counted } = openReceiver(url);
    const ids = Array.from({ length: 8 }, (_, at) => `whl_${at}`);
    const replies = await Promise.all(ids.map((id) => deliver(receiver, paid, { id })));
    expect(new Set(replies.map(({ outcome }) => outcome))).toEqual(new Set(['handled']));
    await deliver(receiver, paid, { id: 'later' });
    expect(asked).toHaveBeenCalledOnce();
    expect(await counted()).toEqual({ agreed: 1, kept: 8 });
  });

  test('is not requested twice at the same time with keep: 0', async () => {
    const { url, paid } = await openStorefront();
    const { receiver, asked } = openReceiver(url, { keep: 0 });
    await Promise.all(['a', 'b', 'c'].map((id) => deliver(receiver, paid, { id })));
    expect(asked).toHaveBeenCalledOnce();
    await deliver(receiver, paid, { id: 'later' });
    expect(asked).toHaveBeenCalledTimes(2);
  });

  test('is requested again after `keep` has passed', async () => {
    const { url, account, paid } = await openStorefront();
    const { receiver, asked } = openReceiver(url, { keep: 50 });
    await deliver(receiver, paid);
    await account.refund(paid.id);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await deliver(receiver, paid, { id: 'fresh' })).toMatchObject({ status: 422 });
    expect(asked).toHaveBeenCalledTimes(2);
  });

  test('is requested again if the kept one is older than the delivery, so that a payment is not rejected', async () => {
    const { url, buy, pay } = await openStorefront();
    const { receiver, asked, refused } = openReceiver(url);
    const bought = await buy();
    await deliver(receiver, bought, { event: 'order:created' });
    const paid = await pay(bought.id);
    const replies = ['a', 'b', 'c'].map((id) => deliver(receiver, paid, { id }));
    for (const reply of await Promise.all(replies)) expect(reply.outcome).toBe('handled');
    expect(refused).toEqual([]);
    expect(asked).toHaveBeenCalledTimes(2);
  });

  test('is requested again if the request failed', async () => {
    const { url, account, paid } = await openStorefront();
    const { receiver, asked } = openReceiver(url);
    account.faults.add({ operation: 'orders.get', status: 503 });
    const first = await Promise.all(['a', 'b'].map((id) => deliver(receiver, paid, { id })));
    expect(first.map(({ status }) => status)).toEqual([503, 503]);
    expect(asked).toHaveBeenCalledOnce();
    expect(await deliver(receiver, paid)).toMatchObject({ outcome: 'handled' });
  });

  test('leaves the cache after 1,000 others', async () => {
    const get = vi.fn(async (id: string) => ({ ...order, id }));
    const { paid: order } = await openStorefront();
    const confirm = confirmOrders({ orders: { get } }, { keep: 60_000 });
    const ask = (number: number) => {
      const payload = { ...order, id: `ord_${number}` };
      return confirm({ payload, event: 'order:paid', scope: '', paidStatuses: [100] });
    };
    for (let number = 0; number <= 1_000; number++) await ask(number);
    expect(await ask(1_000)).toMatchObject({ kept: true });
    expect(await ask(1)).toMatchObject({ kept: true });
    expect(await ask(0)).toMatchObject({ kept: false });
    expect(get).toHaveBeenCalledTimes(1_002);
  });

  test('leaves the cache only after the 999 others if it has been requested again', async () => {
    const order = { status: 51, email: 'a@b.example', product_title: 'Game' };
    const get = async (id: string) => ({ ...order, id });
    const confirm = confirmOrders({ orders: { get } }, { keep: 60_000 });
    const ask = (number: number, event = 'order:created') => {
      const payload = { ...order, id: `ord_${number}` };
      return confirm({ payload, event, scope: '', paidStatuses: [100] });
    };
    for (let number = 0; number < 1_000; number++) await ask(number);
    // A delivery that disagrees with the kept order has it requested again.
    const paid = { ...order, id: 'ord_0', status: 100 };
    const stated = { payload: paid, event: 'order:paid', scope: '', paidStatuses: [100] as const };
    expect(await confirm(stated)).toMatchObject({ state: 'disagreed' });
    await ask(1_000);
    expect(await ask(0)).toMatchObject({ kept: true });
    expect(await ask(1)).toMatchObject({ kept: false });
  });

  test('leaves memory, except for the fields that are compared, and these once `keep` has passed', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const [large, title] = [new Set<WeakRef<object>>(), new Set<WeakRef<object>>()];
    const get = async (id: string) => {
      const order = { id, status: 100, email: 'a@b.example', product_title: Object('Game') };
      title.add(new WeakRef(order.product_title));
      large.add(new WeakRef(order));
      return order;
    };
    const confirm = confirmOrders({ orders: { get } }, { keep: 50 });
    const ask = (id: string) =>
      confirm({ payload: { id }, event: 'order:paid', scope: '', paidStatuses: [100] });
    const left = async (refs: Set<WeakRef<object>>) => {
      await new Promise((resolve) => setTimeout(resolve));
      collect();
      return [...refs].filter((one) => one.deref()).length;
    };
    for (const id of ['ord_1', 'ord_2', 'ord_3']) await ask(id);
    expect(await left(large)).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 60));
    await ask('ord_4');
    expect(await left(title)).toBe(1);
  });
});

test.each<[string, unknown, object]>([
  ['client', undefined, {}],
  ['client', { orders: {} }, {}],
  ['keep', undefined, { keep: -1 }],
  ['keep', undefined, { keep: 3_600_000 }],
  ['whenDown', undefined, { whenDown: 'maybe' }],
  ['whendown', undefined, { whendown: 'accept' }],
])('an invalid %s is rejected', (name, client, options) => {
  const given = name === 'client' ? client : { orders: { get() {} } };
  expect(() => confirmOrders(given as never, options)).toThrow(
    expect.objectContaining({ code: 'option_invalid', message: expect.stringContaining(name) }),
  );
});
