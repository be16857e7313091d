import { Queue } from 'bullmq';
import { bullmqQueue } from 'storefront-webhooks/bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Dispatching } from '../../../../src/queues/run-job.js';
import { type BullmqEngine, makeBullmq } from '../../../queues/bullmq/engine.js';
import { enqueue, newDelivery, newReceiver, redrive, soon } from '../../../queues/deliveries.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

withRedis('on Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  describe('a queue of BullMQ', () => {
    const engines: BullmqEngine[] = [];
    afterEach(async () => {
      for (const engine of engines.splice(0)) await engine.close();
    });
    function open(attempts = 1): BullmqEngine {
      const engine = makeBullmq(server, { attempts });
      engines.push(engine);
      return engine;
    }

    test('queues a delivery again whose job was trimmed, and its worker finds a duplicate', async () => {
      const { bull, queue, store, work } = open();
      const handler = vi.fn();
      const outcomes: string[] = [];
      const onOutcome = ({ outcome }: { outcome: string }) => void outcomes.push(outcome);
      await work(newReceiver({ store, hooks: { onOutcome } }).on('order:paid', handler));
      const delivery = newDelivery();
      const { id } = await enqueue(queue, delivery);
      await vi.waitUntil(async () => (await bull.getCompletedCount()) === 1, soon);
      await bull.remove(id);

      await enqueue(queue, delivery);
      await vi.waitUntil(async () => (await bull.getCompletedCount()) === 1, soon);
      expect(outcomes).toEqual(['handled', 'duplicate']);
      expect(handler).toHaveBeenCalledOnce();
    });

    test.each([
      [{ age: 3600 }, { age: 3600 }],
      [false, false],
      [undefined, { count: 100 }],
    ])('keeps completed jobs as its queue says (%o), or 100', async (own, expected) => {
      const connection = { host: '127.0.0.1', port: server.port };
      const defaultJobOptions = own === undefined ? {} : { removeOnComplete: own };
      const bull = new Queue('kept', { connection, defaultJobOptions });
      const { id } = await enqueue(bullmqQueue(bull), newDelivery());
      const job = await bull.getJob(id);
      expect(job?.opts).toMatchObject({ attempts: 18, removeOnComplete: expected });
      await bull.close();
    });

    test.each([
      ['ignored', 'completed'],
      ['parked', 'completed'],
      ['failed', 'failed'],
    ] as const)(
      'runs a delivery again that comes again after it was %s',
      async (outcome, state) => {
        const { bull, queue, work } = open();
        const dispatch = vi.fn<Dispatching['dispatch']>().mockResolvedValue({ outcome, ran: [] });
        await work({ dispatch });
        const delivery = newDelivery();
        const { id } = await enqueue(queue, delivery);
        await vi.waitUntil(async () => (await bull.getJobState(id)) === state, soon);
        // Two requests at the same time.
        const both = [enqueue(queue, delivery), enqueue(queue, delivery)];
        expect(await Promise.all(both)).toEqual([{ id }, { id }]);
        await vi.waitUntil(() => dispatch.mock.calls.length >= 2, soon);
      },
    );

    test("keeps jobs that failed for good, even if the queue's settings remove them", async () => {
      const { bull, queue, work } = open(2);
      Object.assign(bull, { jobsOpts: { ...bull.defaultJobOptions, removeOnFail: true } });
      await work({ dispatch: async () => ({ outcome: 'failed', ran: [] }) });
      const delivery = newDelivery({ id: 'whl_\u202e\n' });
      const { id } = await enqueue(queue, delivery);
      await vi.waitUntil(async () => (await bull.getFailedCount()) === 1, soon);
      expect(await bull.getJob(id)).toMatchObject({
        attemptsMade: 2,
        failedReason:
          'The delivery "whl_\\u{202e}\\u{a}" is not done yet: failed. See node_modules/storefront-webhooks/docs/errors.md#delivery_unfinished',
      });
    });

    test('tries a delivery 18 times within about a day, unless the queue has other settings', async () => {
      const { bull, queue } = open(5);
      const ofOwner = await enqueue(queue, newDelivery());
      expect((await bull.getJob(ofOwner.id))?.opts).toMatchObject({
        attempts: 5,
        backoff: { type: 'fixed' },
        removeOnFail: false,
      });
      Object.assign(bull, { jobsOpts: {} });
      const { id } = await enqueue(queue, newDelivery());
      const { attempts = 0, backoff } = (await bull.getJob(id))?.opts ?? {};
      expect(backoff).toEqual({ type: 'exponential', delay: 1000, jitter: 0.5 });
      const hours = (2 ** (attempts - 1) - 1) / 3600;
      expect([attempts, Math.round(hours / 2), Math.round(hours)]).toEqual([18, 18, 36]);
    });

    test('tries a job that is not a delivery once', async () => {
      const { bull, work, addJob } = open(5);
      const dispatch = vi.fn<Dispatching['dispatch']>();
      await work({ dispatch });
      await addJob({ hello: 'world' });
      await vi.waitUntil(async () => (await bull.getFailedCount()) === 1, soon);
      const [job] = await bull.getFailed();
      expect(job).toMatchObject({ attemptsMade: 1, name: 'greeting' });
      expect(job?.failedReason).toContain('holds no delivery');
      expect(dispatch).not.toHaveBeenCalled();
    });

    test('uses no attempt while the store is down, and waits longer each time', async () => {
      const { bull, queue, work, errors } = open();
      const delays: number[] = [];
      await work({ dispatch: async () => ({ outcome: 'unavailable', ran: [] }) });
      const { id } = await enqueue(queue, newDelivery());
      for (let wait = 1; wait <= 3; wait++) {
        const job = await vi.waitUntil(async () => {
          const [delayed] = await bull.getDelayed();
          return delayed?.attemptsStarted === wait ? delayed : undefined;
        }, soon);
        delays.push(Math.round(job.delay / 1000));
        expect(job.attemptsMade).toBe(0);
        await job.promote();
      }
      expect(delays).toEqual([1, 2, 4]);
      expect(errors).toEqual([]);
      expect(await bull.getJob(id)).toBeDefined();
    });

    test.each(['waiting', 'delayed', 'completed', 'failed', 'absent'] as const)(
      'redrives a delivery whose job is %s',
      async (state) => {
        const { bull, queue, work } = open(state === 'delayed' ? 2 : 1);
        const delivery = newDelivery();
        const dispatch = vi.fn<Dispatching['dispatch']>();
        if (state !== 'absent') await enqueue(queue, delivery);
        if (state === 'delayed') {
          const [job] = await bull.getWaiting();
          await job?.remove();
          await bull.add('webhook', job?.data, { jobId: job?.id ?? '', delay: 3_600_000 });
        }
        if (state === 'completed' || state === 'failed') {
          dispatch.mockResolvedValueOnce({
            outcome: state === 'failed' ? 'failed' : 'handled',
            ran: [],
          });
          await work({ dispatch });
          await vi.waitUntil(async () => (await bull.getJobCounts(state))[state] === 1, soon);
        }
        dispatch.mockResolvedValue({ outcome: 'handled', ran: [] });
        dispatch.mockClear();
        // Two redrives at the same time.
        await Promise.all([redrive(queue, delivery), redrive(queue, delivery)]);
        if (dispatch.mock.calls.length === 0) await work({ dispatch });
        await vi.waitUntil(async () => (await bull.getCompletedCount()) === 1, soon);
        expect(dispatch.mock.calls[0]?.[0]).toMatchObject({ key: delivery.key });
      },
    );

    test('gives a redriven delivery all of its attempts again', async () => {
      const { bull, queue, work } = open(2);
      const last: boolean[] = [];
      await work({
        dispatch: async (_, { lastAttempt }) => {
          last.push(lastAttempt);
          return { outcome: 'failed', ran: [] };
        },
      });
      const delivery = newDelivery();
      await enqueue(queue, delivery);
      await vi.waitUntil(async () => (await bull.getFailedCount()) === 1, soon);
      await redrive(queue, delivery);
      await vi.waitUntil(() => last.length === 4, soon);
      expect(last).toEqual([false, true, false, true]);
    });

    test('does not affect a running job', { timeout: 20_000 }, async () => {
      const { bull, queue, work } = open();
      let finish = () => {};
      const dispatch = vi.fn<Dispatching['dispatch']>(async () => {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return { outcome: 'handled', ran: [] };
      });
      await work({ dispatch });
      const delivery = newDelivery();
      await enqueue(queue, delivery);
      await vi.waitUntil(() => dispatch.mock.calls.length === 1, soon);
      await redrive(queue, delivery);
      finish();
      await vi.waitUntil(async () => (await bull.getCompletedCount()) === 1, soon);
      expect(dispatch).toHaveBeenCalledOnce();
    });
  });
});
