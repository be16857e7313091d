import { setTimeout } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqWorker } from 'storefront-webhooks/bullmq';
import { makeReceiver } from './receiver';

const receiver = makeReceiver();
const connection = new Redis(process.env.REDIS_URL ?? 'redis://localhost:6379', {
  maxRetriesPerRequest: null,
  socketTimeout: 12_000,
  // Leaves a server that has become a replica.
  reconnectOnError: (error) => /\b(READONLY|UNBLOCKED)\b/.test(error.message),
});
const worker = new Worker('webhooks', bullmqWorker(receiver), {
  connection,
  concurrency: 10,
  maxStalledCount: 10,
});
// The message alone: an error of ioredis also has the AUTH command, with the password.
const log = (error: Error) => console.error(error.message);
connection.on('error', log);
worker.on('error', log);

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    // Running handlers finish, which takes up to the receiver's `timeout`, and waiting jobs stay in the queue.
    await receiver.close({ timeoutMs: 60_000 });
    // Records the ends of their jobs, which takes no time. While Redis is down, it would wait forever.
    await Promise.race([worker.close(), setTimeout(5000)]);
    process.exit();
  });
}
