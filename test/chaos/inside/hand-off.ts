import type { HandOff, Receiver } from 'storefront-webhooks';
import { loadPgBoss12 } from '../../queues/pg-boss/boss12.js';
import { ENQUEUING_LIMITS, POOL_LIMITS, WORKING_LIMITS } from './clients.js';
import { pass } from './faults-here.js';
import { postgresUrl, redisUrl } from './open.js';

/** A queue of this process: its receiver enqueues deliveries, and its worker handles them. */
export interface OpenedQueue {
  readonly queue: HandOff;
  work(receiver: Receiver): Promise<void>;
  close(): Promise<void>;
}

const NAME = 'webhooks';
const CONCURRENCY = 10;

export async function openQueue(engine: string): Promise<OpenedQueue | undefined> {
  if (engine === 'bullmq') return openBullmq();
  if (engine === 'pg-boss') return openPgBoss();
  return undefined;
}

async function openBullmq(): Promise<OpenedQueue> {
  const { Queue, Worker } = await import('bullmq');
  const { Redis } = await import('ioredis');
  const { bullmqWorker, bullmqQueue } = await import('storefront-webhooks/bullmq');
  const connect = (limits: typeof ENQUEUING_LIMITS) =>
    new Redis(redisUrl, limits).on('error', () => {}) as never;
  const queue = new Queue(NAME, { connection: connect(ENQUEUING_LIMITS) });
  queue.on('error', () => {});
  const workers: { close(): Promise<void> }[] = [];
  return {
    queue: chaotic(bullmqQueue(queue)),
    async work(receiver) {
      const worker = new Worker(NAME, bullmqWorker(receiver), {
        connection: connect(WORKING_LIMITS),
        concurrency: CONCURRENCY,
        lockDuration: 5_000,
        stalledInterval: 2_000,
        // The store counts crashes, and parks a delivery after five.
        maxStalledCount: 100,
      });
      workers.push(worker);
      worker.on('error', () => {});
      await worker.waitUntilReady();
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
      await queue.close();
    },
  };
}

async function openPgBoss(): Promise<OpenedQueue> {
  const { PgBoss } = await loadPgBoss12();
  const { pgBossQueue, pgBossWorker } = await import('storefront-webhooks/pg-boss');
  const settings = {
    connectionString: postgresUrl,
    max: 6,
    // Notice a dead worker sooner than by default.
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
    // pg-boss passes all settings on to its pool, including those that pg-boss itself does not know.
    ...POOL_LIMITS,
  };
  const boss = new PgBoss(settings);
  boss.on('error', () => {});
  await boss.start();
  const retrying = { retryLimit: 100, retryDelay: 1, expireInSeconds: 20, heartbeatSeconds: 10 };
  for (const name of [`${NAME}-dead`, NAME]) {
    // Another process may create the queue first.
    await boss.createQueue(name, { name, ...retrying }).catch(() => {});
  }
  return {
    queue: chaotic(pgBossQueue(boss)),
    async work(receiver) {
      const options = { concurrency: CONCURRENCY, pollingIntervalSeconds: 0.5 };
      await pgBossWorker(boss, receiver, options);
    },
    close: () => boss.stop({ close: true, timeout: 5_000 }),
  };
}

/** The queue as the receiver sees it, with points at which the process may be hit. */
function chaotic(queue: HandOff): HandOff {
  const enqueue = process.env.CHAOS_BREAK === 'enqueue' ? early(queue) : queue.enqueue;
  return {
    ...queue,
    async enqueue(delivery, options) {
      pass('before-enqueue');
      const job = await enqueue(delivery, options);
      pass('after-enqueue');
      return job;
    },
  };
}

/** Breaks a queue: it answers first and stores the delivery later, like a promise that continues after the answer. */
function early({ enqueue }: HandOff): HandOff['enqueue'] {
  return async (delivery, options) => {
    setTimeout(() => void enqueue(delivery, options).catch(() => {}), 50);
    return { id: options.key };
  };
}
