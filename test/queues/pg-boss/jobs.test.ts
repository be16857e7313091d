import pg from 'pg';
import PgBoss from 'pg-boss';
import { type Boss, pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { expect, test, vi } from 'vitest';
import { enqueue, newDelivery, redrive } from '../deliveries.js';

/** A pg-boss with both queues, which sends each job under the given id. */
function bossWithQueues() {
  return {
    getQueue: vi.fn<Boss['getQueue']>(async (name) => ({ name, policy: 'standard' })),
    createQueue: vi.fn<Boss['createQueue']>(),
    updateQueue: vi.fn<Boss['updateQueue']>(),
    send: vi.fn<Boss['send']>(async (_, __, { id = '' }) => id),
    getJobById: vi.fn<Boss['getJobById']>(async () => null),
    deleteJob: vi.fn<Boss['deleteJob']>(),
    work: vi.fn<Boss['work']>(),
    notifyWorker: vi.fn<Boss['notifyWorker']>(),
    offWork: vi.fn<Boss['offWork']>(),
  } satisfies Boss;
}

test('pgBossQueue rejects anything but a pg-boss', () => {
  // @ts-expect-error: a mistake that a JavaScript program can make.
  expect(() => pgBossQueue(new pg.Pool())).toThrow(
    expect.objectContaining({ code: 'client_invalid' }),
  );
});

test.each([
  ['pgBossQueue', async (boss: PgBoss) => pgBossQueue(boss)],
  ['pgBossWorker', async (boss: PgBoss) => pgBossWorker(boss, { dispatch: vi.fn() })],
])('%s rejects pg-boss 9 by its name and version', async (_, use) => {
  const boss = new PgBoss('postgres://127.0.0.1:1/none');
  // pg-boss 9 creates a queue with its first job.
  Object.assign(boss, { createQueue: undefined });
  await expect(use(boss)).rejects.toMatchObject({
    code: 'version_unsupported',
    message: expect.stringMatching(
      /pg-boss 10 or later, and this is pg-boss 9 .*: npm install pg-boss@10/,
    ),
  });
});

test('pgBossWorker rejects anything but a receiver', async () => {
  // @ts-expect-error: a mistake that a JavaScript program can make.
  const worker = pgBossWorker(new PgBoss('postgres://127.0.0.1:1/none'), {});
  await expect(worker).rejects.toMatchObject({ code: 'receiver_invalid' });
});

test('workers that could not all be started are stopped, so that the program can try again', async () => {
  const boss = bossWithQueues();
  const running = new Set<string>();
  boss.work.mockImplementation(async () => {
    if (running.size === 2) throw new Error('PostgreSQL restarts');
    running.add(`worker-${running.size}`);
    return `worker-${running.size - 1}`;
  });
  boss.offWork.mockImplementation(async (_, { id }) => void running.delete(id));
  const closing = new AbortController();
  const ignores = vi.spyOn(closing.signal, 'removeEventListener');
  const receiver = { dispatch: vi.fn(), closing: closing.signal };
  await expect(pgBossWorker(boss, receiver)).rejects.toThrow('PostgreSQL restarts');
  expect(running).toEqual(new Set());
  expect(ignores).toHaveBeenCalledTimes(2);
});

test('a queue that could not be looked up for one delivery takes the next one', async () => {
  const boss = bossWithQueues();
  boss.getQueue.mockRejectedValueOnce(new Error('PostgreSQL restarts'));
  const queue = pgBossQueue(boss);
  await expect(enqueue(queue, newDelivery())).rejects.toThrow('PostgreSQL restarts');
  expect(boss.send).not.toHaveBeenCalled();
  const delivery = newDelivery();
  await enqueue(queue, delivery);
  expect(boss.send).toHaveBeenCalledOnce();
  expect(boss.send.mock.calls[0]?.[1]).toMatchObject({ key: delivery.key });
});

test.each(['created', 'active', 'retry'])(
  'a copy of a delivery does not replace its job in the state %s',
  async (state) => {
    const boss = bossWithQueues();
    // The answer of pg-boss if a job with this id exists.
    boss.send.mockResolvedValueOnce(null);
    boss.getJobById.mockResolvedValue({ state, retryCount: 3, retryLimit: 16 });
    const delivery = newDelivery();
    const { id } = await enqueue(pgBossQueue(boss), delivery);
    expect(id.replaceAll('-', '')).toBe(delivery.key.slice(0, 32));
    expect(boss.send).toHaveBeenCalledOnce();
    expect(boss.deleteJob).not.toHaveBeenCalled();
  },
);

test('a missing queue is created to keep deliveries for 30 days, and to try a dead letter 100 times', async () => {
  const boss = bossWithQueues();
  boss.getQueue.mockResolvedValue(null);
  await enqueue(pgBossQueue(boss), newDelivery());
  const days30 = { retentionSeconds: 2_592_000, retentionMinutes: 43_200 };
  expect(boss.createQueue.mock.calls).toEqual([
    ['webhooks-dead', expect.objectContaining({ ...days30, retryLimit: 100 })],
    ['webhooks', expect.objectContaining({ ...days30, deadLetter: 'webhooks-dead' })],
  ]);
});

test.each<[string, object, boolean]>([
  ['none', { deadLetter: null }, false],
  ['another', { deadLetter: 'failed' }, true],
])(
  'a queue whose own dead letters are %s has those of the worker, whose jobs pg-boss 11 would drop',
  async (_, settings, isTold) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const boss = bossWithQueues();
    boss.getQueue.mockImplementation(async (name) => ({ name, policy: 'standard', ...settings }));
    await enqueue(pgBossQueue(boss), newDelivery());
    expect(boss.updateQueue.mock.calls).toEqual([['webhooks', { deadLetter: 'webhooks-dead' }]]);
    expect(warn.mock.calls).toEqual(
      isTold ? [[expect.stringMatching(/ webhooks now go to webhooks-dead, .* to failed, /)]] : [],
    );
  },
);

test('a queue that has the dead letters of the worker is left as it is', async () => {
  const boss = bossWithQueues();
  boss.getQueue.mockImplementation(async (name) => ({ name, deadLetter: 'webhooks-dead' }));
  await enqueue(pgBossQueue(boss), newDelivery());
  expect(boss.updateQueue).not.toHaveBeenCalled();
});

const noQueue = new Error('Queue webhooks does not exist');

test.each<[string, typeof enqueue, (boss: ReturnType<typeof bossWithQueues>) => void]>([
  ['takes no delivery', enqueue, ({ send }) => send.mockResolvedValue(null)],
  ['rejects a delivery', enqueue, ({ send }) => send.mockRejectedValue(noQueue)],
  // As pg-boss 12 does.
  ['cannot look up a delivery', redrive, ({ getJobById: look }) => look.mockRejectedValue(noQueue)],
])(
  'a queue that %s, because it was deleted, is created for the next one',
  async (_, call, lose) => {
    const boss = bossWithQueues();
    const queue = pgBossQueue(boss);
    await call(queue, newDelivery());
    boss.getQueue.mockResolvedValue(null);
    lose(boss);
    await expect(call(queue, newDelivery())).rejects.toThrow();
    expect(boss.createQueue).not.toHaveBeenCalled();
    boss.send.mockResolvedValue('sent');
    boss.getJobById.mockResolvedValue(null);
    await call(queue, newDelivery());
    expect(boss.createQueue.mock.calls.map(([name]) => name)).toEqual([
      'webhooks-dead',
      'webhooks',
    ]);
  },
);
