import { createReceiver } from 'storefront-webhooks';
import { createSandbox, type WebhookAttempt } from 'storefront-webhooks/sandbox';
import { describe, expect, test, vi } from 'vitest';
import { openSeller, TUNER } from './seller.js';
import { startListener } from './webhooks/listener.js';

describe('a program can wait', () => {
  test('until no webhook is being sent', async () => {
    const { sandbox, account, client } = await openSeller({ clock: 'manual' });
    const listener = await startListener();
    await client.webhookEndpoints.create({
      url: `${listener.origin}/a`,
      events: ['order:created'],
    });
    const { id } = await client.products.create(TUNER);
    await account.buy({ product_id: id });
    await account.idle();
    expect(listener.events()).toEqual(['order:created']);
    await account.buy({ product_id: id });
    await sandbox.idle();
    expect(listener.events()).toEqual(['order:created', 'order:created']);
    await listener.close();
  });

  test.each([
    ['of an account', (seller: Awaited<ReturnType<typeof openSeller>>) => seller.account.clock],
    ['of all accounts', (seller: Awaited<ReturnType<typeof openSeller>>) => seller.sandbox.clock],
  ])('until advancing the time %s has sent the webhooks and their retries', async (_, clockOf) => {
    const seller = await openSeller({ clock: 'manual' });
    const listener = await startListener();
    listener.answer((_, number) => (number < 3 ? 503 : 200));
    const endpoint = { url: `${listener.origin}/a`, events: ['order:created'] } as const;
    await seller.client.webhookEndpoints.create(endpoint);
    const { id } = await seller.client.products.create(TUNER);
    await seller.account.buy({ product_id: id });
    // The retries are due after 10 and then 20 seconds.
    await clockOf(seller).advance(30_000);
    const [log] = (await seller.client.webhookLogs.list()).items;
    expect([listener.came.length, log?.response_code, log?.retries]).toEqual([3, 200, 2]);
    await listener.close();
  });
});

describe('onAttempt', () => {
  const FAILS = { status: 500, body: 'no keys left' };

  test('reports the response of each attempt, and the time of the next one', async () => {
    const told: WebhookAttempt[] = [];
    const { account, client } = await openSeller({
      clock: 'manual',
      onAttempt: (attempt) => told.push(attempt),
    });
    const listener = await startListener();
    listener.answer((_, number) => (number < 3 ? FAILS : 200));
    const url = `${listener.origin}/a`;
    await client.webhookEndpoints.create({ url, events: ['order:created'] });
    const { id } = await client.products.create(TUNER);
    const sold = account.clock.now();
    const order = await account.buy({ product_id: id });
    await account.clock.advance(10_000);
    await listener.close();
    await account.clock.advance(20_000);
    const same = { account: account.key, event: 'order:created', url, recordId: order.id };
    const later = (seconds: number) => new Date(sold + seconds * 1000);
    expect(told).toEqual([
      { ...same, id: told[0]?.id, status: 500, answer: 'no keys left', retryAt: later(10) },
      { ...same, id: told[0]?.id, status: 500, answer: 'no keys left', retryAt: later(30) },
      {
        ...{ ...same, id: told[0]?.id, status: 0, retryAt: later(70) },
        answer: expect.stringContaining('ECONNREFUSED'),
      },
    ]);
  });

  test('may throw without affecting the webhooks', async () => {
    const write = vi.spyOn(console, 'error').mockReturnValue();
    const { account, client } = await openSeller({
      clock: 'manual',
      onAttempt() {
        throw new Error('nobody listens');
      },
    });
    const listener = await startListener();
    listener.answer((_, number) => (number < 2 ? 500 : 200));
    await client.webhookEndpoints.create({
      url: `${listener.origin}/a`,
      events: ['order:created'],
    });
    await account.buy({ product_id: (await client.products.create(TUNER)).id });
    await account.clock.advance(10_000);
    expect(listener.came).toHaveLength(2);
    const [[line]] = write.mock.calls as [[string]];
    expect(line).toMatch(/sandbox: onAttempt threw: Error: nobody listens.*operate\.md#sandbox/s);
    write.mockRestore();
    await listener.close();
  });
});

test('a sandbox with another header prefix sends webhooks that a receiver with this prefix reads', async () => {
  const { account, client } = await openSeller({ headerPrefix: 'X-Example-', webhookSecret: 'k' });
  const listener = await startListener();
  await client.webhookEndpoints.create({ url: `${listener.origin}/a`, events: ['order:created'] });
  const { id } = await client.products.create(TUNER);
  await account.buy({ product_id: id });
  await account.idle();
  const [came] = listener.came;
  expect(came?.headerNames).toEqual(
    expect.arrayContaining(['X-Example-Event', 'X-Example-Webhook']),
  );
  const receiver = createReceiver({ secret: 'k', headerPrefix: 'X-Example-' });
  receiver.on('order:created', () => {});
  const response = await receiver.receive({
    method: 'POST',
    headers: came?.headers ?? {},
    body: came?.body ?? Buffer.alloc(0),
  });
  expect(response.outcome).toBe('handled');
  await listener.close();
});

test('allowHosts permits a host on a private network, also over plain HTTP', async () => {
  const form = 'url=http%3A%2F%2Fapp.internal%3A3000%2Fwebhooks&events[0]=order:paid';
  const stranger = await openSeller();
  expect(await stranger.send('POST', '/api/v2/webhooks/endpoints', form)).toMatchObject({
    status: 400,
    body: { errors: [expect.stringContaining('https://')] },
  });
  const { send } = await openSeller({ allowHosts: ['app.internal'] });
  expect((await send('POST', '/api/v2/webhooks/endpoints', form)).status).toBe(201);
});

test.each([
  [{ headerPrefix: 'X-Example' }, 'headerPrefix'],
  [{ headerPrefix: 'X Example-' }, 'headerPrefix'],
  [{ allowHosts: ['http://app'] }, 'allowHosts'],
  [{ allowHosts: ['app:3000'] }, 'allowHosts'],
  [{ allowHost: ['app'] }, 'allowHosts'],
  [{ onAttempt: 'log' }, 'onAttempt'],
])('%j is rejected with the name of the option to change', (options, named) => {
  expect(() => createSandbox(Object(options))).toThrow(named);
});
