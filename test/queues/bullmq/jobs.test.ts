import { bullmqQueue, bullmqWorker } from 'storefront-webhooks/bullmq';
import { expect, test } from 'vitest';

test('bullmqQueue rejects anything but a BullMQ queue', () => {
  // @ts-expect-error: a mistake that a JavaScript program can make.
  expect(() => bullmqQueue({ send() {} })).toThrow(
    expect.objectContaining({ code: 'client_invalid' }),
  );
});

test('bullmqWorker rejects anything but a receiver', () => {
  // @ts-expect-error: a mistake that a JavaScript program can make.
  expect(() => bullmqWorker({})).toThrow(expect.objectContaining({ code: 'receiver_invalid' }));
});
