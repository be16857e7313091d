import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createReceiver, type Order } from 'storefront-webhooks';
import { bullmqQueue, bullmqWorker } from 'storefront-webhooks/bullmq';
import { toNodeHandler } from 'storefront-webhooks/node';
import { redisStore } from 'storefront-webhooks/redis';

const url = process.env.REDIS_URL ?? 'redis://localhost:6379';
const retryStrategy = (times: number) => Math.min(times * 100, 1000);
// Leaves a server that has become a replica.
const reconnectOnError = (error: Error) => /\b(READONLY|UNBLOCKED)\b/.test(error.message);
const limits = { connectTimeout: 5000, retryStrategy, reconnectOnError };
const redis = new Redis(url, { ...limits, maxRetriesPerRequest: 1, socketTimeout: 5000 });
const workerRedis = new Redis(url, {
  ...limits,
  maxRetriesPerRequest: null,
  socketTimeout: 12_000,
});
const queue = new Queue('webhooks', { connection: redis });
/** The longest that a handler may take. */
const timeout = 4 * 60_000;

const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: redisStore(redis),
  // The receiver answers as soon as the queue has the delivery. The worker below may then take up to `timeout`.
  queue: bullmqQueue(queue),
  timeout,
}).onPaid(({ payload: order, signal }) => deliver(order, signal));

async function deliver(order: Order, signal: AbortSignal) {
  await setTimeout(Number(process.env.WORK_MS ?? 30_000));
  signal.throwIfAborted();
  console.log(`Delivered order ${order.id}`);
}

const worker = new Worker('webhooks', bullmqWorker(receiver), {
  connection: workerRedis,
  concurrency: 4,
  maxStalledCount: 10,
});
// The message alone: an error of ioredis also has the AUTH command, with the password.
const log = (error: Error) => console.error(error.message);
for (const each of [redis, workerRedis]) each.on('error', log);
queue.on('error', log);
worker.on('error', log);

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    // Running handlers finish, which takes up to `timeout`, and waiting jobs stay in the queue.
    await receiver.close({ server, timeoutMs: timeout });
    // Records the ends of their jobs, which takes no time. While Redis is down, it would wait forever.
    await Promise.race([worker.close(), setTimeout(5000)]);
    process.exit();
  });
}
