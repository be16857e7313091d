// Hands deliveries to a queue as docs/queues.md shows. Compiled in this repository, and with older versions of BullMQ.
import { Queue, Worker } from 'bullmq';
import { createReceiver } from 'storefront-webhooks';
import { bullmqQueue, bullmqWorker } from 'storefront-webhooks/bullmq';

const connection = { host: '127.0.0.1' };

export function start() {
  const defaultJobOptions = { attempts: 5, removeOnComplete: { age: 3600 } };
  const jobs = new Queue('webhooks', { connection, defaultJobOptions });
  const receiver = createReceiver({ secret: 'a secret for tests', queue: bullmqQueue(jobs) });
  return new Worker('webhooks', bullmqWorker(receiver), { connection });
}
