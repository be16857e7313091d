import {
  createReceiver,
  memoryStore,
  type ScopedSecret,
  type SecretFunction,
} from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

describe('a secret', () => {
  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['blank', ' \t\n'],
    ['NUL-only', '\0\0'],
    ['of zero bytes only', new Uint8Array(8)],
    ['followed by a pasted line end', `${SECRET}\n`],
    ['an empty list', []],
    ['empty within a list', [SECRET, '']],
    ['the text of a variable that was not set', 'undefined'],
    ['the text of null', 'null'],
    ['such a text followed by NULs', 'undefined\0\0'],
    ['the bytes of such a text', Buffer.from('undefined')],
    ['the text of a promise', `${Promise.resolve()}`],
    ['invisible', '\u200b\u2060'],
    ['begun by a byte order mark', `\ufeff${SECRET}`],
  ])('that is %s is rejected when the receiver is created', (_, secret) => {
    const create = () => createReceiver({ secret });
    expect(create).toThrow(expect.objectContaining({ code: 'secret_invalid' }));
    expect(create).toThrow(/WEBHOOK_SECRET/);
    expect(create).not.toThrow(SECRET);
  });

  test('may be a list while one is being replaced', async () => {
    const receiver = createReceiver({ secret: ['the new secret', SECRET] }).on('*', () => {});
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 200 });
    expect(
      await deliver(receiver, paidOrder(), { secret: 'the new secret', id: '2' }),
    ).toMatchObject({ status: 200 });
    expect(await deliver(receiver, paidOrder(), { secret: 'a third one', id: '3' })).toMatchObject({
      status: 401,
    });
  });
});

test('an undefined secret in a list is ignored if another one is set', async () => {
  const receiver = createReceiver({ secret: [undefined, SECRET] }).on('*', () => {});
  expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 200 });
  expect(() => createReceiver({ secret: [undefined, undefined] })).toThrow('empty');
});

test('a secret of bytes is copied, so that later changes have no effect', async () => {
  for (const bytes of [Buffer.from(SECRET), new TextEncoder().encode(SECRET)]) {
    const receiver = createReceiver({ secret: bytes }).on('*', () => {});
    bytes.fill(7);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 200 });
  }
});

describe('a secret function', () => {
  function receiverWith(secret: SecretFunction) {
    const handler = vi.fn();
    const onError = vi.fn();
    const receiver = createReceiver({ secret, hooks: { onError } }).on('*', handler);
    return { receiver, handler, onError };
  }

  test("delivers no order again, if the first shop keeps its scope '' or its orders are marked", async () => {
    const store = memoryStore();
    const onPaid = vi.fn();
    const open = (secret: string | SecretFunction) =>
      createReceiver({ secret, store }).onPaid(onPaid);
    await deliver(open(SECRET), paidOrder());
    const kept = open(() => ({ secret: SECRET, scope: '' }));
    expect(await deliver(kept, paidOrder(), { id: 'whl_2' })).toMatchObject({
      outcome: 'duplicate',
    });
    const moved = open(() => ({ secret: SECRET, scope: 'keys' }));
    await moved.markDone('onPaid', 'ord_1', { scope: 'keys' });
    expect(await deliver(moved, paidOrder())).toMatchObject({ outcome: 'duplicate' });
    expect(onPaid).toHaveBeenCalledOnce();
  });

  test('selects the shop by the request, and sets the scope that handlers get', async () => {
    const shops = new Map<string | undefined, ScopedSecret<string | undefined>>([
      ['/webhooks/one', { secret: 'the secret of one', scope: 'one' }],
      ['/webhooks/two', { secret: [undefined, 'the secret of two'], scope: 'two' }],
    ]);
    const { receiver, handler } = receiverWith(async ({ url }) => shops.get(url) ?? null);
    const to = (url: string, secret: string) => deliver(receiver, paidOrder(), { url, secret });
    expect(await to('/webhooks/one', 'the secret of one')).toMatchObject({ outcome: 'handled' });
    expect(await to('/webhooks/two', 'the secret of two')).toMatchObject({ outcome: 'handled' });
    expect(await to('/webhooks/two', 'the secret of one')).toMatchObject({ status: 401 });
    expect(handler.mock.calls.map(([{ scope }]) => scope)).toEqual(['one', 'two']);
  });

  test('that knows no shop for a request leads to the answer of a wrong signature', async () => {
    const { receiver } = receiverWith(() => null);
    const known = receiverWith(() => ({ secret: 'another secret', scope: '' }));
    expect(await deliver(receiver, paidOrder())).toEqual(
      await deliver(known.receiver, paidOrder()),
    );
  });

  test.each([
    ['an empty secret', () => ({ secret: '', scope: 'one' })],
    ['a secret with a line end', () => ({ secret: 'a secret\n', scope: 'one' })],
    [
      'an error',
      () => {
        throw new Error('the database is down');
      },
    ],
  ])('that gives %s leads to a 500, and the hook gets the reason', async (_, secret) => {
    const { receiver, handler, onError } = receiverWith(secret);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    expect(onError).toHaveBeenCalledOnce();
    expect(handler).not.toHaveBeenCalled();
  });
});

test('a secret function that hangs leads to a 500 in time', async () => {
  vi.useFakeTimers();
  const onError = vi.fn();
  const receiver = createReceiver({ secret: () => new Promise(() => {}), hooks: { onError } });
  const reply = deliver(receiver, paidOrder());
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await reply).toMatchObject({ status: 500 });
  expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'timed_out' });
  vi.useRealTimers();
});
