import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { loadFixture } from 'storefront-webhooks/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createOrders, draft } from '../../../src/cli/check/orders.js';
import { ONCE, Trial } from '../../../src/cli/check/trial.js';

/** More bytes than both ends of a connection buffer. */
const LARGE = 32 * 1024 * 1024;

/** Starts a server that reads a large body only when the test allows it. */
async function serve() {
  const whole: number[] = [];
  const lacking: number[] = [];
  let stuck: Socket | undefined;
  const server = createServer((socket) => {
    let head = '';
    let length = 0;
    let got = 0;
    socket.on('error', () => {});
    socket.on('data', (piece: Buffer) => {
      if (length === 0) {
        head += piece.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
        got = head.length - end - 4;
        if (length > LARGE / 2) {
          socket.pause();
          stuck = socket;
        }
      } else got += piece.length;
      if (got === length - 1) lacking.push(length);
      if (got !== length) return;
      whole.push(length);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const at = server.address();
  const url = new URL(`http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}/`);
  return { url, whole, lacking, letThrough: () => stuck?.resume(), isStuck: () => !!stuck };
}

test('no delivery of sendAtOnce is complete before all but the last byte of each was sent', async () => {
  const { url, whole, lacking, letThrough, isStuck } = await serve();
  const trial = new Trial(
    { name: 'at-once', title: '', goods: ONCE, run: async () => {} },
    {
      ...{
        url,
        secret: 'a secret',
        headerPrefix: 'X-Service-',
        timeoutMs: 30_000,
        endlessMs: 3000,
        took: [],
      },
      orders: createOrders(loadFixture('order:paid')),
      signal: AbortSignal.timeout(30_000),
      restart: undefined,
    },
  );
  const small = Array.from({ length: 7 }, () => draft('order:paid', '{"id":"ord_1"}'));
  const large = draft('order:paid', `"${'x'.repeat(LARGE)}"`);
  const answered = trial.sendAtOnce([...small, large]);
  await expect.poll(() => [lacking.length, isStuck()]).toEqual([7, true]);
  // A byte that is not held back would have arrived by now.
  await wait(200);
  expect(whole).toEqual([]);
  letThrough();
  const answers = await answered;
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(whole).toHaveLength(8);
});
