import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createReceiver, type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sign } from 'storefront-webhooks/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { paidOrder, SECRET } from '../support/deliver.js';

const body = JSON.stringify(paidOrder());
const signature = await sign(body, SECRET);

/** How many deliveries a receiver accepts at first. */
const ACCEPTED = 4_000;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A shop whose store answers no claim until the test allows it. */
async function busyShop() {
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  const base = memoryStore();
  const claim = vi.fn<IdempotencyStore['claim']>(async (delivery, lease) => {
    await isOpen;
    return base.claim(delivery, lease);
  });
  const errors: unknown[] = [];
  const handler = vi.fn();
  const receiver = createReceiver({
    secret: SECRET,
    store: forward(base, { claim }),
    hooks: { onError: (error) => errors.push(error), onRejected() {} },
  }).on('order:paid', handler);
  const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    open();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const receive = (id: string) =>
    receiver.receive({
      method: 'POST',
      headers: {
        'x-service-event': 'order:paid',
        'x-service-webhook': id,
        'x-service-signature': signature,
      },
      body: Buffer.from(body),
    });
  /** As many deliveries as the receiver accepts. Its timer stands still, so that it does not measure its load. */
  const fill = async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let rejected = 0;
    for (let index = 0; index < ACCEPTED; index++)
      void receive(`whl_fill_${index}`).then(() => {
        rejected += 1;
      });
    while (claim.mock.calls.length + rejected < ACCEPTED) await new Promise(setImmediate);
    vi.useRealTimers();
    expect(rejected).toBe(0);
  };
  return { receiver, receive, fill, claim, handler, errors, port, open };
}

function requestOf(id: string, { signed = signature, length = body.length } = {}): string {
  return (
    `POST / HTTP/1.1\r\nHost: shop\r\nX-Service-Event: order:paid\r\nX-Service-Webhook: ${id}\r\n` +
    `X-Service-Signature: ${signed}\r\nContent-Length: ${length}\r\n\r\n`
  );
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  ends.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const answerOf = async (socket: Socket) => String((await once(socket, 'data'))[0]);

describe('an overloaded receiver', () => {
  test('answers 503 with Retry-After before the body arrives', async () => {
    const { fill, port } = await busyShop();
    await fill();
    const socket = await open(port);
    socket.write(requestOf('whl_1'));
    const answer = await answerOf(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/\r\nretry-after: \d+\r\n/);
    expect(answer).toContain('"outcome":"unavailable"');
    expect(answer).not.toContain('webhook-receipt');
  });

  test('keeps the connection open if the body is short', async () => {
    const { fill, open: openStore, port } = await busyShop();
    await fill();
    const socket = await open(port);
    socket.write(requestOf('whl_1') + body);
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 503 .*connection: keep-alive/is);
    openStore();
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.write(requestOf('whl_1') + body);
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('rejects a forged request by its headers, as usual', async () => {
    const { fill, port } = await busyShop();
    await fill();
    const socket = await open(port);
    socket.write(requestOf('whl_1', { signed: 'none' }));
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('reports the overload once, and handles the retries', async () => {
    const { fill, receive, errors, handler, open: openStore } = await busyShop();
    await fill();
    for (let index = 0; index < 50; index++) {
      expect(await receive(`whl_${index}`)).toMatchObject({ status: 503, outcome: 'unavailable' });
    }
    expect(errors).toEqual([expect.objectContaining({ code: 'overloaded' })]);
    openStore();
    await vi.waitUntil(() => handler.mock.calls.length === ACCEPTED, 10_000);
    expect(await receive('whl_1')).toMatchObject({ outcome: 'handled' });
  });
});

test('a flood of forged requests takes no capacity from genuine ones', async () => {
  const { receiver, receive, handler, open: openStore } = await busyShop();
  openStore();
  const forged = Array.from({ length: 5_000 }, (_, index) =>
    receiver.receive({
      method: 'POST',
      headers: {
        'x-service-event': 'order:paid',
        'x-service-webhook': `whl_${index}`,
        'x-service-signature': 'a'.repeat(128),
      },
      body: async () => Buffer.from(body),
    }),
  );
  expect(await receive('whl_genuine')).toMatchObject({ outcome: 'handled' });
  const outcomes = new Set((await Promise.all(forged)).map(({ status }) => status));
  expect([...outcomes]).toEqual([401]);
  expect(handler).toHaveBeenCalledOnce();
});

test('forged bodies that never end are dropped to make room for other bodies', async () => {
  const { receiver, receive, open: openStore } = await busyShop();
  openStore();
  const piece = 512 * 1024;
  const slow = Array.from({ length: 200 }, (_, index) =>
    receiver.receive({
      method: 'POST',
      headers: {
        'x-service-event': 'order:paid',
        'x-service-webhook': `whl_${index}`,
        'x-service-signature': 'a'.repeat(128),
      },
      body: (_, onBytes) => {
        onBytes(piece);
        return new Promise((resolve) => ends.push(() => resolve(Buffer.from(body))));
      },
    }),
  );
  const given = await Promise.all(slow.slice(0, 72));
  expect(given.map(({ status }) => status)).toEqual(Array(72).fill(408));
  expect(await receive('whl_genuine')).toMatchObject({ outcome: 'handled' });
});

test('forged bodies in pieces of one byte count with the memory that their pieces take', async () => {
  const receiver = createReceiver({
    secret: SECRET,
    bodyTimeout: 60_000,
    hooks: { onRejected() {} },
  });
  const [oldest] = Array.from({ length: 100 }, (_, index) =>
    receiver.receive({
      method: 'POST',
      headers: {
        'x-service-event': 'order:paid',
        'x-service-webhook': `whl_${index}`,
        'x-service-signature': 'a'.repeat(128),
      },
      body: (_, onBytes) => {
        for (let pieces = 0; pieces < 10_000; pieces++) onBytes(1);
        return new Promise((resolve) => ends.push(() => resolve(Buffer.from(body))));
      },
    }),
  );
  const late = new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await Promise.race([oldest, late])).toMatchObject({ status: 408, outcome: 'rejected' });
});

test('a delivery whose sender hangs up during its body is not claimed', async () => {
  const { receiver, claim } = await busyShop();
  let isGone = false;
  const received = receiver.receive({
    method: 'POST',
    headers: {
      'x-service-event': 'order:paid',
      'x-service-webhook': 'whl_1',
      'x-service-signature': signature,
    },
    body: async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      isGone = true;
      return Buffer.from(body);
    },
    isGone: () => isGone,
  });
  expect(await received).toMatchObject({ outcome: 'unavailable' });
  expect(claim).not.toHaveBeenCalled();
});
