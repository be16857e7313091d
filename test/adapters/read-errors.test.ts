import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, memoryStore, type RejectionInfo } from 'storefront-webhooks';
import { toFetch } from 'storefront-webhooks/fetch';
import { toNodeHandler } from 'storefront-webhooks/node';
import { describe, expect, test, vi } from 'vitest';
import { Connection, head } from '../support/raw-http.js';
import { SECRET } from './apps/inside/contract.js';
import { orderOf, webhook } from './corpus.js';

const order = orderOf(1_000);

function setUp(changes: object = {}) {
  const rejected: RejectionInfo[] = [];
  const hooks = { onError() {}, onRejected: (info: RejectionInfo) => rejected.push(info) };
  const options = { secret: SECRET, store: memoryStore(), hooks, ...changes };
  return { receiver: createReceiver(options).on('*', () => {}), rejected };
}

describe('an error with the status 413 or 408 while the body is read', () => {
  const theirs = () =>
    Object.assign(new Error(`too big for me${'!'.repeat(1_000)}`), { status: 413 });
  const unsized = Object.fromEntries(
    webhook(order, 'whl_1').map(([name, value]) => [name, String(value)]),
  );

  test('that the stream of a fetch runtime throws does not count as a limit of the receiver', async () => {
    const { receiver, rejected } = setUp();
    const body = new ReadableStream({ pull: (controller) => controller.error(theirs()) });
    const init = { method: 'POST', headers: unsized, body, duplex: 'half' } as const;
    expect((await toFetch(receiver)(new Request('http://localhost/', init))).status).toBe(400);
    expectTheirs(rejected);
  });

  test("that Node's request emits does not count as a limit of the receiver", async () => {
    const { receiver, rejected } = setUp();
    const server = createServer((request, response) => {
      request.on('newListener', (event) => {
        // Emit the error before the receiver reads the first piece.
        if (event === 'error') queueMicrotask(() => request.emit('error', theirs()));
      });
      void toNodeHandler(receiver)(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const init = { method: 'POST', headers: unsized, body: new Uint8Array(order) };
    expect((await fetch(`http://127.0.0.1:${port}/`, init)).status).toBe(400);
    server.closeAllConnections();
    server.close();
    expectTheirs(rejected);
  });

  test.each([413, 408])(
    'that a `body` function of the user throws with %d does not count as a limit either',
    async (status) => {
      const { receiver, rejected } = setUp();
      const body = () => Promise.reject(Object.assign(theirs(), { status }));
      const answer = await receiver.receive({ method: 'POST', headers: unsized, body });
      expect(answer.status).toBe(400);
      expectTheirs(rejected);
    },
  );

  test('of the receiver itself counts, even if the `body` function of the user swallows it', async () => {
    const { receiver, rejected } = setUp({ limit: 100 });
    const body = vi.fn(async (limit: number, onBytes: (bytes: number) => void) => {
      expect(limit).toBe(100);
      try {
        onBytes(100);
        onBytes(1);
      } catch {
        // Ignored.
      }
      return new Uint8Array(10);
    });
    const answer = await receiver.receive({ method: 'POST', headers: unsized, body });
    expect(answer.status).toBe(413);
    expect(rejected).toMatchObject([{ code: 'body_too_large', detail: undefined }]);
  });

  function expectTheirs(rejected: readonly RejectionInfo[]): void {
    expect(rejected).toMatchObject([
      { code: 'body_incomplete', detail: expect.stringContaining('Error: too big for me!!!') },
    ]);
    expect(rejected[0]?.detail?.length).toBeLessThan(300);
  }
});

test("Node's request may close in the middle of its body without an error", async () => {
  const { receiver, rejected } = setUp({ bodyTimeout: 50 });
  const server = createServer((request, response) => {
    request.once('data', () => setImmediate(() => request.emit('close')));
    void toNodeHandler(receiver)(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = await Connection.open(server.address());
  await connection.send(head([...webhook(order, 'whl_1'), ['Content-Length', 1_000]]), 'half');
  expect(await connection.answer()).toMatchObject({ status: 408 });
  connection.close();
  server.closeAllConnections();
  server.close();
  expect(rejected).toMatchObject([{ code: 'body_late' }]);
});
