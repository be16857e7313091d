import { bullmqWorker } from 'storefront-webhooks/bullmq';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { toJob } from '../../../src/queues/job.js';
import { newDelivery } from '../deliveries.js';

const HOUR_MS = 3_600_000;

describe('a job of BullMQ', () => {
  afterEach(() => vi.useRealTimers());

  /** A job on a worker whose clock is off. The worker asks Redis for the time. */
  function jobOf(offMs: number, parts: { attemptsMade?: number; closing?: Promise<void> } = {}) {
    const time = async () => {
      const ms = Date.now() - offMs;
      return [`${Math.floor(ms / 1000)}`, `${(ms % 1000) * 1000}`];
    };
    return {
      data: toJob(newDelivery()),
      opts: { attempts: 18, backoff: { type: 'exponential', delay: 1_000 } },
      attemptsMade: 0,
      queue: { backend: { client: Promise.resolve({ time }) }, closing: undefined },
      moveToDelayed: vi.fn(async (_dueAt: number) => {}),
      moveToWait: vi.fn(async () => {}),
      ...parts,
    };
  }
  async function process(job: ReturnType<typeof jobOf>, outcome: 'failed' | 'unavailable') {
    vi.useFakeTimers();
    const worker = bullmqWorker({ dispatch: async () => ({ outcome, ran: [] }) });
    const started = performance.now();
    const ended = worker(job, 'token').catch((error: Error) => error);
    let seconds: number | undefined;
    void ended.then(() => {
      seconds = Math.round((performance.now() - started) / 1000);
    });
    await vi.advanceTimersByTimeAsync(120_000);
    return { error: await ended, seconds };
  }

  test.each([HOUR_MS, -HOUR_MS])(
    "waits in its worker while the store is down, if the worker's clock is off by %d ms",
    async (offMs) => {
      const job = jobOf(offMs);
      const { error, seconds } = await process(job, 'unavailable');
      expect(error).toMatchObject({ name: 'WaitingError', code: 'delivery_unfinished' });
      expect(seconds).toBe(1);
      expect(job.moveToWait).toHaveBeenCalledExactlyOnceWith('token');
      expect(job.moveToDelayed).not.toHaveBeenCalled();
    },
  );

  test.each([0, 900, -900])(
    "is delayed by BullMQ if the worker's clock is off by less than a second: %d ms",
    async (offMs) => {
      const waiting = jobOf(offMs);
      expect((await process(waiting, 'unavailable')).error).toMatchObject({ name: 'DelayedError' });
      expect(waiting.moveToDelayed).toHaveBeenCalledOnce();
      const failing = jobOf(offMs);
      expect(await process(failing, 'failed')).toMatchObject({ seconds: 0 });
      expect(failing.opts.backoff).toEqual({ type: 'exponential', delay: 1_000 });
    },
  );

  test('asks the Redis of BullMQ 5 for the time', async () => {
    const job = jobOf(HOUR_MS, { attemptsMade: 4 });
    const { client } = job.queue.backend;
    Object.assign(job, { queue: { client } });
    expect(await process(job, 'failed')).toMatchObject({ seconds: 16 });
  });

  test('understands a driver that returns the time as a Date', async () => {
    const job = jobOf(0, { attemptsMade: 4 });
    const time = async () => new Date(Date.now() - HOUR_MS);
    Object.assign(job.queue.backend, { client: Promise.resolve({ time }) });
    expect(await process(job, 'failed')).toMatchObject({ seconds: 16 });
  });

  test('is delayed by BullMQ 5.0, which cannot put a job back', async () => {
    const job = jobOf(HOUR_MS);
    Object.assign(job, { moveToWait: undefined });
    expect((await process(job, 'unavailable')).error).toMatchObject({ name: 'DelayedError' });
    expect(job.moveToDelayed).toHaveBeenCalledOnce();
  });

  const backoff = { type: 'exponential', delay: 1_000 };
  test.each([
    // The fifth attempt waits 16 s in its worker, and the ninth would wait for 256 s.
    ['fast', HOUR_MS, 4, 16, 0],
    ['fast', HOUR_MS, 8, 0, backoff],
    ['slow', -HOUR_MS, 4, 16, 0],
    ['slow', -HOUR_MS, 8, 0, { type: 'fixed', delay: HOUR_MS + 256_000 }],
  ])(
    'that fails on a worker with a %s clock is retried late rather than early: %d, %d',
    async (_, offMs, attemptsMade, held, then) => {
      const job = jobOf(offMs, { attemptsMade });
      expect(await process(job, 'failed')).toMatchObject({
        seconds: held,
        error: { code: 'delivery_unfinished' },
      });
      expect(job.opts.backoff).toEqual(then);
    },
  );

  test.each([HOUR_MS, -HOUR_MS])('that fails for the last time is not held: %d', async (offMs) => {
    const job = jobOf(offMs, { attemptsMade: 4 });
    Object.assign(job.opts, { attempts: 5 });
    expect(await process(job, 'failed')).toMatchObject({ seconds: 0 });
    expect(job.opts.backoff).toEqual(backoff);
  });

  test.each([
    ['fast', HOUR_MS, 20_000, 20, 0],
    ['slow', -HOUR_MS, 300_000, 0, { type: 'fixed', delay: HOUR_MS + 300_000 }],
  ])(
    'that fails on a worker with a %s clock keeps the fixed pause of its queue: %d, %d',
    async (_, offMs, delay, held, then) => {
      const job = jobOf(offMs);
      Object.assign(job.opts, { backoff: { type: 'fixed', delay } });
      expect(await process(job, 'failed')).toMatchObject({ seconds: held });
      expect(job.opts.backoff).toEqual(then);
    },
  );

  test('is put back after a second if its receiver closes, and occupies its slot', async () => {
    vi.useFakeTimers();
    const job = jobOf(HOUR_MS);
    const closing = AbortSignal.abort();
    const ended = vi.fn();
    bullmqWorker({ closing, dispatch: async () => ({ outcome: 'unavailable', ran: [] }) })(
      job,
    ).catch(ended);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(job.moveToWait).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(ended).not.toHaveBeenCalled();
    Object.assign(job.queue, { closing: Promise.resolve() });
    await vi.advanceTimersByTimeAsync(300);
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ name: 'WaitingError' }));
    expect(job.moveToDelayed).not.toHaveBeenCalled();
  });

  test('is put back for longer each time if its worker closes, too, and takes further jobs', async () => {
    const job = jobOf(0);
    Object.assign(job, { attemptsStarted: 5 });
    Object.assign(job.queue, { closing: Promise.resolve() });
    const closing = AbortSignal.abort();
    const dispatch = async () => ({ outcome: 'unavailable' as const, ran: [] });
    const soonest = Date.now() + 16_000;
    await expect(bullmqWorker({ closing, dispatch })(job, 'token')).rejects.toThrow();
    expect(job.moveToDelayed).toHaveBeenCalledExactlyOnceWith(expect.any(Number), 'token');
    expect(job.moveToDelayed.mock.lastCall?.[0]).toBeGreaterThanOrEqual(soonest);
  });

  test('comes back after a minute at most, however often it was put back', async () => {
    vi.useFakeTimers();
    const job = jobOf(0);
    Object.assign(job, { attemptsStarted: 40 });
    const worker = bullmqWorker({ dispatch: async () => ({ outcome: 'unavailable', ran: [] }) });
    const startedAt = Date.now();
    await expect(worker(job, 'token')).rejects.toThrow('unavailable');
    expect(job.moveToDelayed).toHaveBeenCalledExactlyOnceWith(startedAt + 60_000, 'token');
  });

  test('comes back no sooner than its receiver asks', async () => {
    const job = jobOf(0);
    const busy = { outcome: 'busy', ran: [], retryAfterMs: 30_000 } as const;
    const soonest = Date.now() + 30_000;
    const worker = bullmqWorker({ dispatch: async () => busy });
    await expect(worker(job, 'token')).rejects.toThrow('busy');
    expect(job.moveToDelayed.mock.lastCall?.[0]).toBeGreaterThanOrEqual(soonest);
  });

  test('does not wait in a worker that is stopping', async () => {
    const job = jobOf(HOUR_MS, { attemptsMade: 4 });
    Object.assign(job.queue, { closing: Promise.resolve() });
    expect(await process(job, 'failed')).toMatchObject({ seconds: 0 });
    expect(job.opts.backoff).toBe(0);
  });

  test('is delayed by BullMQ if Redis cannot be asked for the time', async () => {
    const job = jobOf(HOUR_MS);
    const time = () => Promise.reject(new Error('it is down'));
    for (const client of [Promise.resolve({ time }), Promise.resolve({}), undefined]) {
      Object.assign(job.queue.backend, { client });
      expect(await process(job, 'failed')).toMatchObject({ seconds: 0 });
    }
    expect(job.opts.backoff).toEqual(backoff);
  });
});
