import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import {
  createReceiver,
  type IdempotencyStore,
  memoryStore,
  type ScopedSecret,
} from 'storefront-webhooks';
import { toFetch } from 'storefront-webhooks/fetch';
import { toNodeHandler } from 'storefront-webhooks/node';
import { replay, sign } from 'storefront-webhooks/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { paidOrder } from '../support/deliver.js';
import { gate } from '../support/gate.js';
import { collect } from '../support/memory.js';
import { compileProgram } from '../support/program.js';
import { start } from '../support/start.js';
import { SECRET } from './apps/inside/contract.js';

test.each(['node', 'koa'])(
  'a process that exits after close() has sent its answers (%s)',
  async (mounted) => {
    const server = await start(process.execPath, [
      await compileProgram('test/adapters/apps/inside/stopping.ts', 'sources'),
      mounted,
    ]);
    try {
      const answers = Promise.all(
        ['one', 'two', 'three'].map((id) =>
          replay(`${server.origin}/webhooks`, 'order:paid', { secret: SECRET, id }),
        ),
      );
      await vi.waitFor(() => expect(server.output().match(/begun/g)).toHaveLength(3));
      server.terminate();
      expect((await answers).map(({ outcome }) => outcome)).toEqual(Array(3).fill('handled'));
      expect(await server.ended).toBe(0);
    } finally {
      await server.stop();
    }
  },
);

function deferred() {
  let resolve: (value: void | Promise<void>) => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test('close() does not wait for a sender that left before its delivery was handed over', async () => {
  const receiver = createReceiver({ secret: SECRET, hooks: { onRejected() {} } });
  const handler = toNodeHandler(receiver);
  const closed = deferred();
  const server = createServer(async (request, response) => {
    response.destroy();
    await once(response, 'close');
    void handler(request, response);
    closed.resolve(receiver.close({ timeoutMs: 60_000 }));
  });
  await expect(replay(server, 'order:paid', { secret: SECRET })).rejects.toThrow();
  await closed.promise;
});

function toPost(id: string): string {
  const body = JSON.stringify(paidOrder({ id }));
  return [
    'POST / HTTP/1.1',
    'Host: shop',
    'X-Service-Event: order:paid',
    `X-Service-Webhook: whl_${id}`,
    `X-Service-Signature: ${sign(body, SECRET)}`,
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

/** Sends deliveries on one connection, without waiting for any answer. */
async function pipeline(receiver: Parameters<typeof toNodeHandler>[0], count: number) {
  const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  const [connection] = (await once(server, 'connection')) as [Socket];
  client.write(Array.from({ length: count }, (_, index) => toPost(`ord_${index}`)).join(''));
  const reset = async () => {
    const closed = new Promise((resolve) => connection.once('close', resolve));
    client.resetAndDestroy();
    await closed;
  };
  return { client, connection, reset };
}

/** How long `close()` takes, at most 5 s. */
async function closing(receiver: { close(options: object): Promise<void> }): Promise<number> {
  const startedAt = performance.now();
  await receiver.close({ timeoutMs: 5_000 });
  return performance.now() - startedAt;
}

test('close() does not wait for a response that a serverless host has taken', async () => {
  const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on('*', () => {});
  const body = JSON.stringify(paidOrder());
  const headers = {
    'x-service-event': 'order:paid',
    'x-service-webhook': 'whl_1',
    'x-service-signature': sign(body, SECRET),
  };
  const request = Object.assign(new IncomingMessage(new Socket()), {
    ...{ method: 'POST', url: '/', headers, rawBody: Buffer.from(body), complete: true },
  });
  const response = new ServerResponse(request);
  const ignore = () => {};
  const write = (...given: unknown[]) => {
    const written = given.findLast((one) => typeof one === 'function');
    written?.();
    return true;
  };
  const methods = { on: ignore, cork: ignore, uncork: ignore, write };
  const socket = { _writableState: {}, writable: true, ...methods };
  // As serverless-http does, which adapts an application to Lambda.
  Reflect.apply(response.assignSocket, response, [socket]);
  await Promise.all([once(response, 'finish'), toNodeHandler(receiver)(request, response)]);
  expect(response.statusCode).toBe(200);
  expect(await closing(receiver)).toBeLessThan(2_500);
});

test('close() does not wait for pipelined deliveries whose connection has ended', async () => {
  const { open, opened } = gate<ScopedSecret>();
  const secret = vi.fn(() => opened);
  const hooks = { onRejected() {} };
  const receiver = createReceiver({ secret, store: memoryStore(), hooks }).on('*', () => {});
  const { reset } = await pipeline(receiver, 2);
  await vi.waitFor(() => expect(secret).toHaveBeenCalledTimes(2));
  await reset();
  open({ secret: SECRET, scope: '' });
  expect(await closing(receiver)).toBeLessThan(2_500);
});

/** A receiver whose claims wait until `open` is called. */
function holdClaims() {
  const { open, opened } = gate();
  const base = memoryStore();
  const claim = vi.fn<IdempotencyStore['claim']>(async (delivery, lease) => {
    await opened;
    return base.claim(delivery, lease);
  });
  const receiver = createReceiver({ secret: SECRET, store: forward(base, { claim }) });
  return { receiver: receiver.on('*', () => {}), claim, open };
}

test('the claims of pipelined deliveries learn that their connection has ended', async () => {
  const { receiver, claim, open } = holdClaims();
  const { reset } = await pipeline(receiver, 2);
  await vi.waitFor(() => expect(claim).toHaveBeenCalledTimes(2));
  const isGone = () => claim.mock.calls.map(([, lease]) => lease.isGone?.());
  expect(isGone()).toEqual([false, false]);
  await reset();
  expect(isGone()).toEqual([true, true]);
  open();
  expect(await closing(receiver)).toBeLessThan(2_500);
});

test('the claim of a delivery learns that the sender of its Request has disconnected', async () => {
  const { receiver, claim, open } = holdClaims();
  const body = JSON.stringify(paidOrder());
  const headers = {
    'X-Service-Event': 'order:paid',
    'X-Service-Webhook': 'whl_1',
    'X-Service-Signature': sign(body, SECRET),
  };
  const sender = new AbortController();
  const answered = toFetch(receiver)(
    new Request('http://shop/', { method: 'POST', headers, body, signal: sender.signal }),
  );
  await vi.waitFor(() => expect(claim).toHaveBeenCalledOnce());
  const isGone = () => claim.mock.lastCall?.[1].isGone?.();
  expect(isGone()).toBe(false);
  sender.abort();
  expect(isGone()).toBe(true);
  open();
  await answered;
});

test('all pipelined deliveries share one listener, and close() does not wait for their open connection', async () => {
  const { open, opened } = gate();
  const handler = vi.fn(() => opened);
  const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on('*', handler);
  const { client, connection } = await pipeline(receiver, 20);
  let answers = '';
  client.setEncoding('utf8').on('data', (piece) => {
    answers += piece;
  });
  await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(20));
  expect(connection.listenerCount('close')).toBeLessThan(10);
  open();
  await vi.waitFor(() => expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(20));
  expect(await closing(receiver)).toBeLessThan(2_500);
  expect(connection.destroyed).toBe(false);
});

test('a pipelined delivery that was answered is forgotten while its connection stays open', async () => {
  const { open, opened } = gate();
  const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on('*', () => opened);
  const sent: WeakRef<PromiseLike<unknown>>[] = [];
  const { client, connection } = await pipeline(
    {
      receive(request) {
        if (request.responseSent) sent.push(new WeakRef(request.responseSent));
        return receiver.receive(request);
      },
    },
    3,
  );
  let answers = '';
  client.setEncoding('utf8').on('data', (piece) => {
    answers += piece;
  });
  await vi.waitFor(() => expect(sent).toHaveLength(3));
  open();
  await vi.waitFor(() => expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(3));
  await vi.waitFor(() => {
    collect();
    expect(sent.every((one) => one.deref() === undefined)).toBe(true);
  });
  expect(connection.destroyed).toBe(false);
});
