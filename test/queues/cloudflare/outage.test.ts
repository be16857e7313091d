import {
  cloudflareQueue,
  cloudflareWorker,
  type QueueMessage,
} from 'storefront-webhooks/cloudflare';
import { afterEach, expect, test, vi } from 'vitest';
import { durableStore } from '../../support/durable.js';
import { enqueue, newDelivery, newReceiver } from '../deliveries.js';

afterEach(() => {
  vi.useRealTimers();
});

async function newMessages(count: number) {
  const bodies: unknown[] = [];
  const queue = cloudflareQueue({ send: async (body) => void bodies.push(body) });
  for (let index = 0; index < count; index++) await enqueue(queue, newDelivery());
  return bodies.map((body, index) => {
    return { id: `${index}`, body, attempts: 1, ack: vi.fn(), retry: vi.fn() };
  });
}

test.each([
  ['live', 3, 5],
  ['dead', 30, 60],
])(
  'a batch of a %s queue runs no further delivery while the record of an earlier one is missing',
  async (queue, from, to) => {
    vi.useFakeTimers();
    const store = durableStore(() => ({
      complete: async () => {
        throw new Error('D1_ERROR: Too many API requests by single Worker invocation.');
      },
    }));
    const handler = vi.fn();
    const receiver = newReceiver({ store }).on('order:paid', handler);
    const messages = await newMessages(10);
    const ended = vi.fn();
    const worker = cloudflareWorker(receiver, { queue: 'live', deadLetterQueue: 'dead' });
    void worker({ queue, messages }, {}).then(ended);

    await vi.advanceTimersByTimeAsync(12_000);
    expect(handler).toHaveBeenCalledTimes(4);
    // A retry of what was done would only repeat it.
    expect(messages.map(({ ack }) => ack.mock.calls.length)).toEqual([
      1, 1, 1, 1, 0, 0, 0, 0, 0, 0,
    ]);
    for (const { retry } of messages.slice(4)) {
      expect(retry).toHaveBeenCalledOnce();
      const { delaySeconds } = retry.mock.calls[0]?.[0] ?? {};
      expect(delaySeconds).toBeGreaterThanOrEqual(from);
      expect(delaySeconds).toBeLessThanOrEqual(to);
    }
    await vi.advanceTimersByTimeAsync(320_000);
    expect(ended).toHaveBeenCalledOnce();
    expect(handler).toHaveBeenCalledTimes(4);
  },
);

test('a batch goes on once the store has recorded what was delivered, after a few seconds', async () => {
  vi.useFakeTimers();
  let isDown = true;
  const store = durableStore((base) => ({
    complete: async (...args) => {
      if (isDown) throw new Error('the store restarts');
      return base.complete(...args);
    },
  }));
  const handler = vi.fn();
  const receiver = newReceiver({ store }).on('order:paid', handler);
  const messages = await newMessages(10);
  const worker = cloudflareWorker(receiver, { queue: 'live', deadLetterQueue: 'dead' });
  void worker({ queue: 'live', messages }, {});

  await vi.advanceTimersByTimeAsync(3_000);
  expect(handler).toHaveBeenCalledTimes(4);
  isDown = false;
  await vi.advanceTimersByTimeAsync(3_000);
  expect(handler).toHaveBeenCalledTimes(10);
  for (const { ack } of messages) expect(ack).toHaveBeenCalledOnce();
});

test('neither a late handler nor a slow hook holds up the other deliveries of a batch', async () => {
  vi.useFakeTimers();
  const handler = vi.fn();
  handler.mockReturnValueOnce(new Promise(() => {}));
  const receiver = newReceiver({
    timeout: 1_000,
    hooks: { onOutcome: () => new Promise(() => {}) },
  }).on('order:paid', handler);
  const messages = await newMessages(10);
  const worker = cloudflareWorker(receiver, { queue: 'live', deadLetterQueue: 'dead' });
  void worker({ queue: 'live', messages }, {});

  await vi.advanceTimersByTimeAsync(3_000);
  expect(handler).toHaveBeenCalledTimes(10);
});

test('a batch waits for the record of a handled delivery until the store is back after a minute', async () => {
  vi.useFakeTimers();
  let isDown = true;
  const store = durableStore((base) => ({
    complete: async (...args) => {
      if (isDown) throw new Error('the store restarts');
      return base.complete(...args);
    },
  }));
  const handler = vi.fn();
  /** Passes the message to a new isolate. */
  const handle = (message: QueueMessage) => {
    const receiver = newReceiver({ store }).on('order:paid', handler);
    const worker = cloudflareWorker(receiver, { queue: 'live', deadLetterQueue: 'dead' });
    return worker({ queue: 'live', messages: [message] }, {});
  };

  const bodies: unknown[] = [];
  const send = async (body: unknown) => void bodies.push(body);
  await enqueue(cloudflareQueue({ send }), newDelivery());
  const message = { id: 'm', body: bodies[0], attempts: 1, ack: vi.fn(), retry: vi.fn() };
  const ended = vi.fn();
  const batch = handle(message).then(ended);

  await vi.advanceTimersByTimeAsync(60_000);
  expect(handler).toHaveBeenCalledOnce();
  expect(message.ack).toHaveBeenCalledOnce();
  // The platform stops the retries of the record when the batch ends.
  expect(ended).not.toHaveBeenCalled();
  isDown = false;
  await vi.advanceTimersByTimeAsync(2_000);
  await batch;
  await handle(message);
  expect(handler).toHaveBeenCalledOnce();
});
