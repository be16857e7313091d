import { createReceiver, type SealedDelivery } from 'storefront-webhooks';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

/** A paid order in the form of a queue's job. */
export async function sealed(): Promise<SealedDelivery> {
  const jobs: SealedDelivery[] = [];
  const web = createReceiver({ secret: SECRET, queue: queueInto(jobs) }).on('*', () => {});
  await deliver(web, paidOrder());
  const [job] = jobs;
  if (!job) throw new Error('It was not handed to the queue.');
  return job;
}

/** A queue without a worker. */
export function queueInto(jobs: SealedDelivery[]) {
  return {
    durable: true,
    enqueue: async (delivery: SealedDelivery) => {
      jobs.push(delivery);
      return { id: delivery.key };
    },
  } as const;
}
