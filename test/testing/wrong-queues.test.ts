import { runJob, type SealedDelivery, toJob } from 'storefront-webhooks';
import { type QueueSuite, testQueue } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';
import { pause } from '../../src/runtime/timing.js';

/** Runs the test of `testQueue` that has this title. */
async function runTest(wanted: string, suite: QueueSuite): Promise<void> {
  const tests = new Map<string, () => Promise<void>>();
  testQueue('wrong', suite, {
    describe: (_name, define) => define(),
    test: Object.assign((title: string, run: () => Promise<void>) => tests.set(title, run), {
      skip() {},
    }),
  });
  await (tests.get(wanted) ?? expect.unreachable(wanted))();
}

test('in testQueue, a queue that counts the attempts while the store is down loses its delivery', async () => {
  const lost: string[] = [];
  const open: QueueSuite['open'] = async ({ attempts }) => {
    let run = async (_: SealedDelivery) => {};
    return {
      queue: {
        durable: true,
        enqueue: async (delivery, { key }) => {
          void run(delivery);
          return { id: key };
        },
      },
      async work(receiver) {
        run = async (delivery) => {
          for (let attempt = 1; ; attempt++) {
            const isLast = attempt === attempts;
            const { state } = await runJob(receiver, toJob(delivery), { isLast });
            if (state === 'done') return;
            // A real queue would end here, and the test of the suite would fail after 20 s.
            if (isLast) lost.push(delivery.key);
            await pause(50);
          }
        };
      },
      count: async () => 1,
      countDone: async () => 0,
      addJob: async () => {},
      close: async () => {},
    };
  };
  await runTest('keeps deliveries while the store is down', { open });
  expect(lost).toHaveLength(1);
});
