import { randomUUID } from 'node:crypto';
import type { Queue, Worker, WorkerOptions } from 'bullmq';
import * as bullmq from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqQueue, bullmqWorker } from 'storefront-webhooks/bullmq';
import { redisStore } from 'storefront-webhooks/redis';
import type { Dispatching } from '../../../src/queues/run-job.js';
import type { RedisServer } from '../../support/redis.js';
import type { Engine, EngineOptions } from '../deliveries.js';

export interface BullmqEngine extends Engine {
  readonly bull: Queue;
  /** The errors of its workers. */
  readonly errors: Error[];
  work(receiver: Dispatching, options?: Partial<WorkerOptions>): Promise<void>;
}

/**
 * A BullMQ queue with its own name, and a store on the same Redis.
 *
 * @param version - The module of another version of BullMQ.
 */
export function makeBullmq(
  server: RedisServer,
  { attempts }: EngineOptions,
  version: Pick<typeof bullmq, 'Queue' | 'Worker'> = bullmq,
): BullmqEngine {
  const name = `webhooks-${randomUUID()}`;
  const connection = { host: '127.0.0.1', port: server.port };
  const bull = new version.Queue(name, {
    connection,
    defaultJobOptions: { attempts, backoff: { type: 'fixed', delay: 10 } },
  });
  bull.on('error', () => {});
  const client = new Redis(server.url);
  client.on('error', () => {});
  const workers: Worker[] = [];
  const errors: Error[] = [];
  return {
    name,
    bull,
    errors,
    queue: bullmqQueue(bull),
    store: redisStore(client),
    async work(receiver, options = {}) {
      const worker = new version.Worker(name, bullmqWorker(receiver), { connection, ...options });
      worker.on('error', (error) => void errors.push(error));
      workers.push(worker);
      await worker.waitUntilReady();
    },
    count: async () => Object.values(await bull.getJobCounts()).reduce((sum, n) => sum + n, 0),
    countDone: () => bull.getCompletedCount(),
    addJob: (data) => bull.add('greeting', data),
    async crash() {
      await server.kill();
      await server.start();
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close(true)));
      await bull.close();
      client.disconnect();
    },
  };
}
