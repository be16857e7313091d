import type { UnderlyingSource } from 'node:stream/web';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toFetch } from 'storefront-webhooks/fetch';
import { describe, expect, test, vi } from 'vitest';
import { heldBytes } from '../support/memory.js';
import { LIMIT, SECRET } from './apps/inside/contract.js';
import { orderOf, webhook } from './corpus.js';

const MEBIBYTE = 1024 * 1024;

const order = orderOf(1_000);

function setUp({ bodyTimeout = 10_000, limit = LIMIT } = {}) {
  const handler = vi.fn();
  const urls: (string | undefined)[] = [];
  const secret = ({ url }: { url?: string | undefined }) => {
    urls.push(url);
    return { secret: SECRET, scope: '' };
  };
  const hooks = { onError() {}, onRejected() {} };
  const options = { secret, limit, bodyTimeout, store: memoryStore(), hooks };
  const fetch = toFetch(createReceiver(options).on('*', handler));
  return { fetch, handler, urls };
}

/** A signed request whose body is a stream of any values that a runtime may produce. */
function streamed(source: UnderlyingSource<unknown>, signed: Uint8Array = order): Request {
  const headers = webhook(signed, 'whl_1').map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const body = new ReadableStream(source as UnderlyingSource<Uint8Array>);
  return new Request('http://localhost/webhooks', {
    method: 'POST',
    headers,
    body,
    duplex: 'half',
  } as RequestInit);
}

function pieces(...chunks: readonly unknown[]): Request {
  return streamed({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

const half = order.length / 2;
function shared(bytes: Uint8Array): Uint8Array {
  const view = new Uint8Array(new SharedArrayBuffer(bytes.length));
  view.set(bytes);
  return view;
}

const copyOf = (bytes: Uint8Array) => Uint8Array.from(bytes);

describe('the body of a fetch runtime', () => {
  test.each([
    ['one piece', [order]],
    ['pieces, some of them empty', [order.subarray(0, 1), new Uint8Array(), order.subarray(1)]],
    ['views of another type', [new DataView(copyOf(order).buffer)]],
    ['shared memory', [shared(order)]],
  ])('is handled if it arrives in %s', async (_, chunks) => {
    const { fetch, handler } = setUp();
    expect((await fetch(pieces(...chunks))).status).toBe(200);
    expect(Buffer.from(handler.mock.calls[0]?.[0].rawBody)).toEqual(order);
  });

  test.each([
    ['text', [order.toString()]],
    ['bytes and then text', [order.subarray(0, half), order.subarray(half).toString()]],
    ['a bare buffer', [copyOf(order).buffer]],
    ['an object without a length', [null]],
  ])('is rejected if it consists of %s', async (_, chunks) => {
    const { fetch, handler } = setUp();
    expect((await fetch(pieces(...chunks))).status).toBe(400);
    expect(handler).not.toHaveBeenCalled();
  });

  test("is copied: later changes of the runtime's buffers have no effect", async () => {
    const { fetch, handler } = setUp();
    const chunk = copyOf(order);
    handler.mockImplementation(() => chunk.fill(65));
    expect((await fetch(pieces(chunk))).status).toBe(200);
    expect(Buffer.from(handler.mock.calls[0]?.[0].rawBody)).toEqual(order);
  });

  test('leads to a 400 if its stream fails', async () => {
    const { fetch } = setUp();
    const failing = streamed({ pull: (controller) => controller.error(new Error('reset')) });
    expect((await fetch(failing)).status).toBe(400);
  });

  test('is not read further once it exceeds the limit', async () => {
    const { fetch } = setUp();
    const pull = vi.fn((controller) => controller.enqueue(order));
    const cancel = vi.fn();
    expect((await fetch(streamed({ pull, cancel }))).status).toBe(413);
    const pulled = pull.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(pull.mock.calls.length).toBe(pulled);
    // Cancelling the stream would end the process in h3.
    expect(cancel).not.toHaveBeenCalled();
  });

  test('is not read further after the time limit', async () => {
    const { fetch } = setUp({ bodyTimeout: 20 });
    const pull = vi.fn(async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      controller.enqueue(new Uint8Array(1));
    });
    const cancel = vi.fn();
    expect((await fetch(streamed({ pull, cancel }))).status).toBe(408);
    const pulled = pull.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    // One read was pending, and the stream holds one more piece ready.
    expect(pull.mock.calls.length).toBeLessThanOrEqual(pulled + 2);
    expect(cancel).not.toHaveBeenCalled();
  });

  test('leaves memory with its response, if its sender says nothing more', async () => {
    const { fetch } = setUp({ bodyTimeout: 20, limit: MEBIBYTE });
    const before = heldBytes();
    // Their connections stay open.
    const open: unknown[] = [];
    const begun = () =>
      streamed({
        start(controller) {
          open.push(controller);
          controller.enqueue(new Uint8Array(MEBIBYTE - 1));
        },
      });
    const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(begun())));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([408]));
    await expect.poll(() => heldBytes() - before).toBeLessThan(5 * MEBIBYTE);
    expect(open).toHaveLength(50);
  });

  test.each([
    ['of nothing', new Uint8Array()],
    ['of one byte', new Uint8Array(1)],
  ])('is cut off if it never ends, in pieces %s', async (_, chunk) => {
    const { fetch } = setUp();
    const endless = streamed({ pull: (controller) => controller.enqueue(chunk) });
    expect((await fetch(endless)).status).toBe(408);
  });

  test('may be absent, which counts as a wrong signature', async () => {
    const { fetch } = setUp();
    const request = streamed({});
    const { method, headers } = request;
    expect((await fetch(new Request(request.url, { method, headers }))).status).toBe(401);
  });

  test.each(['used', 'locked', 'read as by srvx'] as const)(
    'leads to a 500 if it was already %s',
    async (how) => {
      const { fetch, handler } = setUp();
      const request = pieces(order);
      if (how === 'used') await request.text();
      else if (how === 'locked') request.body?.getReader();
      else Object.assign(request, { runtime: { node: { req: { readableDidRead: true } } } });
      expect((await fetch(request)).status).toBe(500);
      expect(handler).not.toHaveBeenCalled();
    },
  );
});

test.each([
  ['http://localhost/webhooks?a=1', '/webhooks?a=1'],
  ['http://localhost:3000', ''],
  ['https://user@[::1]:99/a/../b?c=%20#d', '/a/../b?c=%20'],
  ['http://exa[mple/webhooks', '/webhooks'],
  ['http:///webhooks', '/webhooks'],
  ['http://a b:99999/webhooks?shop=1', '/webhooks?shop=1'],
  ['/webhooks?shop=1', '/webhooks?shop=1'],
  ['', ''],
])('a request to %j is answered, and a secret function gets %j', async (address, path) => {
  const { fetch, urls } = setUp();
  // Bun and Deno produce such an address from an invalid Host header.
  const request = Object.defineProperty(pieces(order), 'url', { value: address });
  expect((await fetch(request)).status).toBe(200);
  expect(urls).toEqual([path]);
});
