import { type Boss, type BossJob, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { expect, test, vi } from 'vitest';
import { toJob } from '../../../src/queues/job.js';
import { newDelivery } from '../deliveries.js';

/** A pg-boss that returns `sent` for each new job: null, as the real one does, if a queue was deleted. */
function bossThatSends(sent: string | null) {
  const handlers = new Map<string, (jobs: BossJob[]) => Promise<unknown>>();
  const send = vi.fn(async () => sent);
  const boss = {
    getQueue: async (name: string) => ({ name, policy: 'standard' }),
    createQueue: async () => {},
    updateQueue: async () => {},
    send,
    getJobById: async () => null,
    deleteJob: async () => {},
    work: vi.fn(async (name, _, handler) => {
      handlers.set(name, handler);
      return name;
    }),
    notifyWorker: vi.fn(),
    offWork: vi.fn(async () => {}),
  } satisfies Boss;
  return { boss, handlers, send };
}

/** A job as pg-boss 10 passes it, without the retry pauses of its queue. */
const lastAttempt = () => ({
  id: 'a',
  data: toJob(newDelivery()),
  retryCount: 16,
  retryLimit: 16,
  retryBackoff: false,
});

test('a dead letter that cannot be put back is not completed', async () => {
  const { boss, handlers, send } = bossThatSends(null);
  const dispatch = async () => ({ outcome: 'unavailable', ran: [] }) as const;
  await pgBossWorker(boss, { dispatch });
  await expect(handlers.get('webhooks-dead')?.([lastAttempt()])).rejects.toMatchObject({
    code: 'delivery_unfinished',
  });
  expect(send).toHaveBeenCalledOnce();
});

test.each([
  ['webhooks', { deadLetter: 'webhooks-dead' }],
  ['webhooks-dead', {}],
])(
  'a job of %s that is claimed while the receiver closes is put back, untried',
  async (name, terms) => {
    const { boss, handlers, send } = bossThatSends('b');
    const dispatch = vi.fn();
    const closing = new AbortController();
    await pgBossWorker(boss, { dispatch, closing: closing.signal });
    closing.abort();
    const job = lastAttempt();
    expect(await handlers.get(name)?.([job])).toEqual({ outcome: 'unavailable' });
    expect(send).toHaveBeenCalledExactlyOnceWith(name, job.data, terms);
    expect(dispatch).not.toHaveBeenCalled();
    // The worker would take its own copy at once, again and again.
    expect(boss.notifyWorker).not.toHaveBeenCalled();
  },
);

test('a receiver that closes while its workers start has no workers', async () => {
  const { boss } = bossThatSends('b');
  const closing = new AbortController();
  boss.work.mockImplementation(async (name) => {
    closing.abort();
    return name;
  });
  await pgBossWorker(boss, { dispatch: vi.fn(), closing: closing.signal });
  expect(boss.work).toHaveBeenCalledOnce();
  expect(boss.offWork).toHaveBeenCalledExactlyOnceWith('webhooks', { id: 'webhooks', wait: false });
});
