import { createReceiver } from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

describe('hooks', () => {
  test('get the outcome of each verified delivery', async () => {
    const onOutcome = vi.fn();
    const receiver = createReceiver({ secret: SECRET, scope: 'shop', hooks: { onOutcome } }).on(
      'order:paid',
      () => {},
    );
    await deliver(receiver, paidOrder());
    expect(onOutcome).toHaveBeenCalledExactlyOnceWith({
      id: 'whl_1',
      event: 'order:paid',
      scope: 'shop',
      source: 'webhook',
      outcome: 'handled',
      ran: ['order:paid'],
      skipped: [],
      attempt: 1,
      durationMs: expect.any(Number),
      issues: expect.any(Array),
      idReused: false,
    });
  });

  test('get each rejection, and whether it was genuine', async () => {
    const onRejected = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onRejected } });
    await deliver(receiver, paidOrder(), { secret: 'another secret' });
    await deliver(receiver, '{');
    await deliver(receiver, paidOrder({ status: 0 }));
    const told = onRejected.mock.calls.map(([info]) => [info.code, info.verified, info.id]);
    expect(told).toEqual([
      ['signature_invalid', false, 'whl_1'],
      ['body_not_json', true, 'whl_1'],
      ['payload_invalid', true, 'whl_1'],
    ]);
  });

  test('never get the payload', async () => {
    const told: unknown[] = [];
    const tell = (...args: unknown[]) => told.push(args);
    const receiver = createReceiver({
      secret: SECRET,
      hooks: { onOutcome: tell, onRejected: tell, onError: (_, info) => tell(info) },
    }).on('order:paid', () => {
      throw new Error('no');
    });
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder({ status: 0 }));
    expect(told).toHaveLength(3);
    expect(JSON.stringify(told)).not.toMatch(/buyer@example.com|ord_1/);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('no');
      },
    ],
  ])('do not change the answer if one %s', async (_, hook) => {
    const write = vi.spyOn(console, 'error').mockImplementation(() => {});
    const receiver = createReceiver({
      secret: SECRET,
      hooks: { onOutcome: hook, onRejected: hook, onError: hook },
    }).on('order:paid', () => {
      throw new Error('no');
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500 });
    expect(await deliver(receiver, '{')).toMatchObject({ status: 400 });
    await vi.waitUntil(() => write.mock.calls.length >= 3);
    expect(write).toHaveBeenCalledWith(
      'storefront-webhooks: a hook threw: Error: no. See node_modules/storefront-webhooks/docs/operate.md#hook-failed',
    );
    write.mockRestore();
  });
});

test('a receiver without a store warns once that it remembers in memory only', async () => {
  vi.resetModules();
  const { createReceiver: createFresh, memoryStore } = await import('storefront-webhooks');
  const write = vi.spyOn(console, 'error').mockImplementation(() => {});
  await deliver(
    createFresh({ secret: SECRET, store: memoryStore() }).on('*', () => {}),
    paidOrder(),
  );
  expect(write).not.toHaveBeenCalled();
  for (const id of ['whl_1', 'whl_2']) {
    await deliver(
      createFresh({ secret: SECRET }).on('*', () => {}),
      paidOrder(),
      { id },
    );
  }
  expect(write).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('memoryStore()'));
  write.mockRestore();
});
