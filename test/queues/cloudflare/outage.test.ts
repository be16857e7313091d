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
