import { bullmqQueue, bullmqWorker } from 'storefront-webhooks/bullmq';
import { expect, test } from 'vitest';

test('anything but a queue of BullMQ is refused', () => {
  // @ts-expect-error: what plain JavaScript may pass.
  expect(() => bullmqQueue({ send() {} })).toThrow(
    expect.objectContaining({ code: 'client_invalid' }),
  );
});

test('a worker of what is no receiver is refused where it is made', () => {
  // @ts-expect-error: what plain JavaScript may pass.
  expect(() => bullmqWorker({})).toThrow(expect.objectContaining({ code: 'receiver_invalid' }));
});
