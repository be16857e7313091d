import { gzipSync } from 'node:zlib';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { gate } from '../support/gate.js';
import { order, secret, signed, watched } from './watched.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the cost of a sender who does not know the secret', () => {
  const { headers } = signed(order());
  const bomb = gzipSync(Buffer.alloc(10_000_000));

  test.each([
    ['another method', { method: 'PUT' }, 405],
    ['no signature', { headers: { ...headers, 'x-service-signature': '' } }, 401],
    ['a malformed signature', { headers: { ...headers, 'x-service-signature': 'abc' } }, 401],
    ['no event', { headers: { ...headers, 'x-service-event': '' } }, 400],
    ['a length over the limit', { headers: { ...headers, 'content-length': '1048577' } }, 413],
  ])('threat 16: with %s, the body is not read', async (_, changes, expected) => {
    const { receiver, handler, claim } = watched();
    const read = vi.fn(async () => signed(order()).body);
    const reply = await receiver.receive({ method: 'POST', headers, body: read, ...changes });
    expect(reply).toMatchObject({ status: expected, outcome: 'rejected' });
    expect(read).not.toHaveBeenCalled();
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });

  test('threat 23: the body is not read while a secret function searches', async () => {
    const { open, opened } = gate<{ secret: string; scope: string }>();
    const receiver = createReceiver({ secret: () => opened, store: memoryStore() }).on(
      '*',
      () => {},
    );
    const { body } = signed(order());
    const read = vi.fn(async () => body);
    const replying = receiver.receive({ method: 'POST', headers, body: read });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(read).not.toHaveBeenCalled();
    open({ secret, scope: '' });
    expect(await replying).toMatchObject({ outcome: 'handled' });
  });

  test('threat 16: the actual bytes count, not the declared length', async () => {
    const limit = 1_000;
    const { receiver, handler, claim } = watched({ limit });
    const fits = Buffer.from(order());
    const tooLong = Buffer.concat([fits, Buffer.alloc(limit + 1 - fits.length, ' ')]);
    const request = signed(tooLong, { 'content-length': '10' });
    const read = vi.fn(async () => tooLong);
    for (const body of [tooLong, read]) {
      const reply = await receiver.receive({ ...request, body });
      expect(reply).toMatchObject({ status: 413, outcome: 'rejected' });
    }
    expect(read).toHaveBeenCalledExactlyOnceWith(limit, ...[1, 2].map(() => expect.any(Function)));
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();

    const full = tooLong.subarray(0, limit);
    expect(await receiver.receive(signed(full))).toMatchObject({ outcome: 'handled' });
  });

  test('threat 16: a body that does not end is dropped', async () => {
    const { receiver, handler, claim } = watched({ bodyTimeout: 10 });
    const endless = () => new Promise<Uint8Array>(() => {});
    const reply = await receiver.receive({ method: 'POST', headers, body: endless });
    expect(reply).toMatchObject({ status: 408, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });

  test('threat 16: a body that cannot be read completely is the sender’s error', async () => {
    const { receiver, handler, claim, onError } = watched();
    const aborted = () => Promise.reject(new Error('aborted'));
    const reply = await receiver.receive({ method: 'POST', headers, body: aborted });
    expect(reply).toMatchObject({ status: 400, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
  });

  test.each(['gzip', 'GZIP', 'br', 'deflate', 'zstd', 'gzip, identity', 'identity, gzip'])(
    'threat 17: a body in %s is rejected without being read or decompressed',
    async (encoding) => {
      const { receiver, handler, claim } = watched();
      const read = vi.fn(async () => bomb);
      const { headers } = signed(bomb, { 'content-encoding': encoding });
      const reply = await receiver.receive({ method: 'POST', headers, body: read });
      expect(reply).toMatchObject({ status: 415, outcome: 'rejected' });
      expect(read).not.toHaveBeenCalled();
      expect(handler).not.toHaveBeenCalled();
      expect(claim).not.toHaveBeenCalled();
    },
  );

  test('threat 17: identity is not a compression', async () => {
    const { receiver } = watched();
    const request = signed(order(), { 'content-encoding': 'Identity' });
    expect(await receiver.receive(request)).toMatchObject({ status: 200, outcome: 'handled' });
  });

  test('threat 23: a flood of unverified requests reaches neither the store nor the log', async () => {
    const store = memoryStore();
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const claim = vi.spyOn(store, 'claim');
    const handler = vi.fn();
    const receiver = createReceiver({ secret, store }).on('*', handler).onUnknown(handler);
    const forged = sign(order(), 'another secret');
    for (let n = 0; n < 100; n++) {
      const headers = { 'x-service-webhook': `whl_${n}`, 'x-service-event': `event:${n}` };
      for (const signature of ['', 'abc', forged]) {
        const request = signed(order(), { ...headers, 'x-service-signature': signature });
        expect(await receiver.receive(request)).toMatchObject({ status: 401, outcome: 'rejected' });
      }
    }
    expect(claim).not.toHaveBeenCalled();
    expect(handler).not.toHaveBeenCalled();
    expect(log).not.toHaveBeenCalled();
  });
});
