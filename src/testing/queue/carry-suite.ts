import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { toJob } from '../../queues/job.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { toUtf8 } from '../../runtime/bytes.js';
import { eventually } from '../suite.js';
import { enqueue, newDelivery, newReceiver, StandIn, sendOrder } from './deliveries.js';
import type { Defining } from './tested-queue.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const ANY: readonly (readonly [what: string, parts: Partial<SealedDelivery>])[] = [
  ['bytes of all values', { body: Uint8Array.from({ length: 256 }, (_, byte) => byte) }],
  ['no bytes', { body: new Uint8Array() }],
  ['almost empty JSON', { body: toUtf8('{}') }],
  ['a mebibyte', { body: new Uint8Array(randomBytes(1024 * 1024)) }],
  ['names in other scripts', { id: 'whl_été_日本_🎁', event: 'ordre:payé', scope: '店' }],
  ['names that no database takes', { id: 'whl_\0', event: 'a\ud800b', scope: '\udfff\\u0000"' }],
  ['a trace', { traceparent: TRACEPARENT }],
];

const NO_KEYS = [
  ['that is not a key', 'zz'.repeat(32)],
  ["of one of the store's own names", 'open'],
  ['in upper case', 'AB'.repeat(32)],
] as const;

/** Defines the tests that a queue returns what was put in, and handles jobs that the receiver did not make. */
export function defineCarrying({ test, withQueue }: Defining): void {
  for (const [what, parts] of ANY) {
    test(`carries ${what} unchanged`, () =>
      withQueue(async ({ queue, work }) => {
        const delivery = newDelivery(parts);
        const receiver = new StandIn();
        await work(receiver);
        await enqueue(queue, delivery);
        const first = await eventually('the delivery is tried', () => receiver.given[0]);
        assert.deepEqual(comparable(first.delivery), comparable(delivery));
        assert.equal(first.lastAttempt, false);
      }));
  }

  test('carries the trace of the web process to the worker', () =>
    withQueue(async ({ queue, work }) => {
      const telemetry = {
        traceparent: () => TRACEPARENT,
        delivery: (_: unknown, run: () => Promise<unknown>) => run(),
        handler: (_: unknown, run: () => Promise<unknown>) => run(),
        rejected() {},
        failed() {},
      };
      const receiver = new StandIn();
      await work(receiver);
      await sendOrder(newReceiver({ queue, telemetry }));
      const first = await eventually('the delivery is tried', () => receiver.given[0]);
      assert.equal(first.delivery.traceparent, TRACEPARENT);
    }));

  test('runs a job again if its worker throws', () =>
    withQueue(async ({ queue, work, countDone }) => {
      const receiver = new StandIn(() => Promise.reject(new Error('\0\ud800')));
      await work(receiver);
      await enqueue(queue, newDelivery());
      await eventually('the job is done', async () => (await countDone()) === 1);
      assert.equal(receiver.given.length, 2);
    }));

  test('keeps a job that is not a delivery, and runs the next job', () =>
    withQueue(async ({ queue, work, store, count, countDone, addJob }) => {
      let runs = 0;
      await addJob({ hello: 'world' });
      await work(newReceiver({ store }).on('order:paid', () => void runs++));
      await enqueue(queue, newDelivery());
      await eventually('the job is done', async () => (await countDone()) === 1);
      assert.equal(runs, 1);
      assert.ok((await count()) >= 2, 'The job that is not a delivery is gone.');
    }));

  for (const [what, key] of NO_KEYS) {
    test(`does not run a job with a key ${what}`, () =>
      withQueue(async ({ queue, work, countDone, addJob }) => {
        await addJob({ ...toJob(newDelivery()), key });
        const receiver = new StandIn();
        await work(receiver);
        const delivery = newDelivery();
        await enqueue(queue, delivery);
        await eventually('the other job is done', async () => (await countDone()) === 1);
        // Only the other job has reached the receiver.
        const keys = receiver.given.map((given) => given.delivery.key);
        assert.deepEqual(keys, [delivery.key]);
      }));
  }

  test('parks a forged job, and does not run it', () =>
    withQueue(async ({ queue, store, work, countDone }) => {
      let runs = 0;
      await work(newReceiver({ store }).on('order:paid', () => void runs++));
      const { proof, ...forged } = newDelivery();
      await enqueue(queue, forged);
      await enqueue(queue, { ...newDelivery(), body: forged.body.toReversed() });
      await eventually('both jobs are done', async () => (await countDone()) === 2);
      assert.equal(runs, 0);
      const kept = await store.list({ state: 'dead', scope: forged.scope, limit: 9 });
      assert.equal(kept.length, 1);
      assert.match(kept[0]?.error ?? '', /no signature/);
    }));
}

/** Returns a delivery with a hash in place of its body, so that a difference can be read. */
function comparable(delivery: SealedDelivery): object {
  const body = createHash('sha256').update(delivery.body).digest('hex');
  return { traceparent: undefined, ...delivery, body };
}
