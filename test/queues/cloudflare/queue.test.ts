import Database from 'libsql';
import type { SealedDelivery } from 'storefront-webhooks';
import {
  cloudflareQueue,
  type LargeBinding,
  type QueueBinding,
} from 'storefront-webhooks/cloudflare';
import { expect, test, vi } from 'vitest';
import { D1OverLibsql } from '../../stores/d1/over-libsql.js';

const delivery = (bytes: number, changes: Partial<SealedDelivery> = {}): SealedDelivery => ({
  key: 'ab'.repeat(32),
  scope: 'default',
  id: 'whl_1',
  event: 'order:paid',
  receivedAt: 0,
  body: new Uint8Array(bytes),
  ...changes,
});
const options = () => ({ key: 'ab'.repeat(32), signal: new AbortController().signal });

function makeQueue() {
  const sent: string[] = [];
  const send = vi.fn<QueueBinding['send']>(async (message) => {
    sent.push(JSON.stringify(message));
  });
  return { sent, send };
}

function makeBucket() {
  const objects = new Map<string, Uint8Array>();
  const bucket: LargeBinding = {
    head: async () => null,
    get: async () => null,
    put: async (name, body) => objects.set(name, body),
  };
  return { objects, bucket };
}

test('a message has at most 127,000 bytes, although 128,000 are allowed', async () => {
  const { sent, send } = makeQueue();
  const { bucket, objects } = makeBucket();
  const queue = cloudflareQueue({ send }, { large: bucket });
  // Each character has four bytes in UTF-8, and the bytes count.
  const scope = '\u{1f4e6}'.repeat(1000);
  for (let bytes = 91_900; bytes < 92_300; bytes += 3)
    await queue.enqueue(delivery(bytes, { scope }), options());
  const sizes = sent.map((text) => Buffer.byteLength(text));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(127_000);
  expect(Math.max(...sizes)).toBeGreaterThan(126_990);
  expect(objects.size).toBeGreaterThan(0);
});

test('a retry has the object of its first delivery, unless its bytes differ', async () => {
  const { sent, send } = makeQueue();
  const { bucket, objects } = makeBucket();
  const queue = cloudflareQueue({ send }, { large: bucket });
  for (const bytes of [200_000, 200_000, 200_001]) await queue.enqueue(delivery(bytes), options());
  expect([...objects.values()].map((body) => body.length)).toEqual([200_000, 200_001]);
  const names = sent.map((text) => `webhook-body/${JSON.parse(text).offloaded}`);
  expect(new Set(names)).toEqual(new Set(objects.keys()));
});

test('a redriven delivery has its own object and message', async () => {
  const { sent, send } = makeQueue();
  const { bucket, objects } = makeBucket();
  const queue = cloudflareQueue({ send }, { large: bucket });
  expect(await queue.enqueue(delivery(200_000), options())).toEqual({ id: delivery(1).key });
  await queue.enqueue(delivery(200_000), options());
  await queue.redrive?.(delivery(200_000), options());
  expect(objects.size).toBe(2);
  expect(new Set(sent).size).toBe(2);
});

test('a message is not sent after its signal has aborted', async () => {
  const { send } = makeQueue();
  const late = new AbortController();
  const { bucket } = makeBucket();
  const slow: LargeBinding = { ...bucket, put: async () => late.abort(new Error('late')) };
  const queue = cloudflareQueue({ send }, { large: slow });
  const { key } = options();
  await expect(queue.enqueue(delivery(200_000), { key, signal: late.signal })).rejects.toThrow(
    'late',
  );
  expect(send).not.toHaveBeenCalled();
});

test('a body that is too large for a row of D1 is rejected with the advice to use R2', async () => {
  const { send } = makeQueue();
  const batch = vi.fn();
  const large: LargeBinding = { prepare: () => expect.unreachable(), batch };
  const queue = cloudflareQueue({ send }, { large });
  await expect(queue.enqueue(delivery(2_000_000), options())).rejects.toMatchObject({
    code: 'delivery_too_large',
    message: expect.stringContaining('R2'),
  });
  expect(batch).not.toHaveBeenCalled();
  expect(send).not.toHaveBeenCalled();
});

test('D1 keeps a body for as long as any queue keeps its message, and not for much longer', async () => {
  const { send } = makeQueue();
  const database = new Database(':memory:');
  const queue = cloudflareQueue({ send }, { large: new D1OverLibsql(database) });
  const put = (fill: number) =>
    queue.enqueue(delivery(200_000, { body: new Uint8Array(200_000).fill(fill) }), options());
  const ages = () =>
    database.prepare('SELECT (unixepoch() - at) / 86400 days FROM webhook_body ORDER BY at').all();
  await put(1);
  // The longest retention of a queue, and again as long as a dead letter.
  database.exec('UPDATE webhook_body SET at = at - 28 * 86400');
  await put(2);
  expect(ages()).toMatchObject([{ days: 28 }, { days: 0 }]);
  database.exec('UPDATE webhook_body SET at = at - 3 * 86400');
  await put(3);
  expect(ages()).toMatchObject([{ days: 3 }, { days: 0 }]);
});

test('a message is not sent if its body could not be stored', async () => {
  const { send } = makeQueue();
  const { bucket } = makeBucket();
  const full: LargeBinding = { ...bucket, put: () => Promise.reject(new Error('down')) };
  const queue = cloudflareQueue({ send }, { large: full });
  await expect(queue.enqueue(delivery(200_000), options())).rejects.toThrow('down');
  expect(send).not.toHaveBeenCalled();
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['the name of a queue', 'webhooks'],
  ['another binding', { get() {} }],
])('%s instead of a queue is rejected with the line to configure', (_, binding) => {
  expect(() => cloudflareQueue(binding as QueueBinding)).toThrow(
    expect.objectContaining({
      code: 'client_invalid',
      message: expect.stringContaining(
        '"producers": [{ "binding": "WEBHOOKS", "queue": "webhooks" }]',
      ),
    }),
  );
});

test.each<[string, unknown]>([
  ['a binding that is not configured', undefined],
  ['a KV namespace, which may return outdated values', { get() {}, put() {}, delete() {} }],
])('`large` rejects %s', (_, large) => {
  const wrong = () => cloudflareQueue(makeQueue(), { large: large as LargeBinding });
  expect(wrong).toThrow(
    expect.objectContaining({
      code: 'client_invalid',
      message: expect.stringContaining('"r2_buckets"'),
    }),
  );
});
