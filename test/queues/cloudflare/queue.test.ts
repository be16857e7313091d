import type { SealedDelivery } from 'storefront-webhooks';
import {
  cloudflareQueue,
  type LargeBinding,
  type QueueBinding,
} from 'storefront-webhooks/cloudflare';
import { expect, test, vi } from 'vitest';

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

test('a message never takes more than 127,000 bytes, of which 128,000 fit', async () => {
  const { sent, send } = makeQueue();
  const { bucket, objects } = makeBucket();
  const queue = cloudflareQueue({ send }, { large: bucket });
  // Of four bytes each in UTF-8: they count by their bytes.
  const scope = '\u{1f4e6}'.repeat(1000);
  for (let bytes = 91_900; bytes < 92_300; bytes += 3)
    await queue.enqueue(delivery(bytes, { scope }), options());
  const sizes = sent.map((text) => Buffer.byteLength(text));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(127_000);
  expect(Math.max(...sizes)).toBeGreaterThan(126_990);
  expect(objects.size).toBe(1);
});

test('a redriven delivery is sent under a name of its own', async () => {
  const { sent, send } = makeQueue();
  const { bucket, objects } = makeBucket();
  const queue = cloudflareQueue({ send }, { large: bucket });
  expect(await queue.enqueue(delivery(200_000), options())).toEqual({ id: delivery(1).key });
  await queue.enqueue(delivery(200_000), options());
  await queue.redrive?.(delivery(200_000), options());
  expect(objects.size).toBe(2);
  expect(new Set(sent).size).toBe(2);
});

test('nothing is sent of which nobody waits for the answer any more', async () => {
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

test('what does not fit into a row of D1 either is refused, and R2 is named', async () => {
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

test('what cannot be kept is not sent', async () => {
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
])('%s instead of a queue is a mistake, and the message names the line', (_, binding) => {
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
  [
    'a KV namespace, which may give what was there a minute ago',
    { get() {}, put() {}, delete() {} },
  ],
])('`large` refuses %s', (_, large) => {
  const wrong = () => cloudflareQueue(makeQueue(), { large: large as LargeBinding });
  expect(wrong).toThrow(
    expect.objectContaining({
      code: 'client_invalid',
      message: expect.stringContaining('"r2_buckets"'),
    }),
  );
});
