import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Outgoing, sendRequest } from '../../../src/cli/check/request.js';

const LIMIT_MS = 10_000;
const never = new AbortController().signal;

async function serve(handler: RequestListener): Promise<URL> {
  const server = createServer(handler);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const at = server.address();
  return new URL(`http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}/`);
}

/** Replaces the clock of the sender's time limit. The server and the pauses of the sender keep their real clock. */
function holdClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

const send = (url: URL, outgoing: Partial<Outgoing> = {}) =>
  sendRequest(url, { headers: [], body: Buffer.alloc(100), ...outgoing }, LIMIT_MS, never);

describe('the time limit of an answer', () => {
  test('begins at the last byte, even if the sender held it back', async () => {
    holdClock();
    const url = await serve(async (request, response) => {
      for await (const _ of request);
      vi.advanceTimersByTime(LIMIT_MS - 1);
      response.end();
    });
    const hold = async () => vi.advanceTimersByTime(LIMIT_MS - 1);
    expect(await send(url, { hold })).toMatchObject({ status: 200 });
  });

  test('does not include the time that the sender takes between pieces', async () => {
    holdClock();
    const url = await serve(async (request, response) => {
      for await (const _ of request);
      response.end();
    });
    const body = new SlowBytes(100);
    expect(await send(url, { body, pieces: 20 })).toMatchObject({ status: 200 });
    expect(body.tookMs).toBeGreaterThan(LIMIT_MS);
  });

  test.each([
    ['answers nothing', {}],
    ['waits for the rest of a body', { unended: true }],
  ])('ends the wait for an endpoint that %s', async (_, outgoing) => {
    holdClock();
    const url = await serve((request) => {
      const clock = setInterval(() => vi.advanceTimersByTime(LIMIT_MS), 1);
      request.once('close', () => clearInterval(clock));
    });
    expect(await send(url, outgoing)).toMatchObject({
      status: 0,
      error: 'There was no answer within 10 s.',
    });
  });

  test('does not reject an answer that arrived while the process was frozen', async () => {
    // The server has a thread of its own: it answers while this one stands still.
    const answered = new Int32Array(new SharedArrayBuffer(4));
    const server = new Worker(
      `const { workerData, parentPort } = require('node:worker_threads');
       const server = require('node:net').createServer((socket) => {
         socket.on('error', () => {});
         socket.once('data', () => socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n', () => {
           Atomics.store(workerData, 0, 1);
           Atomics.notify(workerData, 0);
         }));
       }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true, workerData: answered },
    );
    onTestFinished(async () => void (await server.terminate()));
    const [port] = await once(server, 'message');
    holdClock();
    const sent = send(new URL(`http://127.0.0.1:${port}/`));
    // Once the server has answered, the event loop makes no turn that could read the answer.
    while (Atomics.wait(answered, 0, 0, 20) === 'timed-out') await new Promise(setImmediate);
    vi.advanceTimersByTime(LIMIT_MS);
    expect(await sent).toMatchObject({ status: 200 });
  });
});

/** Bytes of which each piece takes a second to get. */
class SlowBytes extends Uint8Array {
  tookMs = 0;

  override subarray(from?: number, to?: number): Uint8Array<ArrayBuffer> {
    vi.advanceTimersByTime(1000);
    this.tookMs += 1000;
    return new Uint8Array(super.subarray(from, to));
  }
}
