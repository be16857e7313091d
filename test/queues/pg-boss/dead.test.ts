import { type Boss, type BossJob, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { expect, test, vi } from 'vitest';
import { toJob } from '../../../src/queues/job.js';
import { newDelivery } from '../deliveries.js';

/** A pg-boss whose queues accept nothing, as after one was deleted. The real one returns null as well. */
function fullBoss() {
  const handlers = new Map<string, (jobs: BossJob[]) => Promise<unknown>>();
  const send = vi.fn(async () => null);
  const boss: Boss = {
    getQueue: async (name) => ({ name, policy: 'standard' }),
    createQueue: async () => {},
    send,
    getJobById: async () => null,
    deleteJob: async () => {},
    work: async (name, _, handler) => {
      handlers.set(name, handler);
      return name;
    },
    notifyWorker() {},
    offWork: async () => {},
  };
  return { boss, handlers, send };
}

test('a dead letter that cannot be put back is not completed', async () => {
  const { boss, handlers, send } = fullBoss();
  const dispatch = async () => ({ outcome: 'unavailable', ran: [] }) as const;
  await pgBossWorker(boss, { dispatch });
  // A job as pg-boss 10 passes it, without the retry pauses of its queue.
  const job = {
    id: 'a',
    data: toJob(newDelivery()),
    retryCount: 16,
    retryLimit: 16,
    retryBackoff: false,
  };
  await expect(handlers.get('webhooks-dead')?.([job])).rejects.toMatchObject({
    code: 'delivery_unfinished',
  });
  expect(send).toHaveBeenCalledOnce();
});
