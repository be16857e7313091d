import { bullmqQueue, bullmqWorker } from 'storefront-webhooks/bullmq';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { toJob } from '../../../src/queues/job.js';
import { enqueue, newDelivery } from '../deliveries.js';

const retryStrategy = () => 100;
const reconnectOnError = () => true;
const clientOf = (options: object) => Promise.resolve({ isCluster: false, options });
const stderr = vi.spyOn(console, 'warn').mockImplementation(() => {});
afterEach(() => stderr.mockClear());
const lines = () => stderr.mock.calls.map(([line]) => `${line}`);

describe('the connection of a worker', () => {
  async function workWith(client: unknown) {
    const worker = bullmqWorker({ dispatch: async () => ({ outcome: 'handled', ran: [] }) });
    const run = () =>
      worker({
        data: toJob(newDelivery()),
        opts: {},
        attemptsMade: 0,
        moveToDelayed: async () => {},
        ...{ queue: { name: 'webhooks', backend: { client } } },
      });
    await run();
    await run();
  }

  test('without a time limit leads to one line on stderr, at the first job', async () => {
    await workWith(clientOf({ retryStrategy, reconnectOnError, maxRetriesPerRequest: null }));
    expect(lines()).toEqual([
      expect.stringMatching(
        /the worker of the queue "webhooks" has no socketTimeout\. .* socketTimeout: 12000, /,
      ),
    ]);
  });

  test('that stays with a demoted server leads to one line, too', async () => {
    await workWith(clientOf({ retryStrategy, socketTimeout: 12_000, reconnectOnError: null }));
    expect(lines()).toEqual([
      expect.stringMatching(
        /the worker of the queue "webhooks" has no reconnectOnError\. .* reconnectOnError: \(/,
      ),
    ]);
  });

  test.each([
    ['has both', () => clientOf({ retryStrategy, socketTimeout: 12_000, reconnectOnError })],
    ['is of another driver', () => clientOf({})],
    ['cannot be read', () => Promise.reject(new Error('Connection is closed.'))],
  ])('leads to no line if it %s', async (_, connected) => {
    await workWith(connected());
    expect(lines()).toEqual([]);
  });

  test('of a cluster, which names its new primary, needs a time limit alone', async () => {
    const redisOptions = { socketTimeout: 12_000 };
    await workWith(Promise.resolve({ isCluster: true, options: { redisOptions } }));
    expect(lines()).toEqual([]);
    await workWith(Promise.resolve({ isCluster: true, options: { redisOptions: {} } }));
    expect(lines()).toEqual([expect.stringContaining('no socketTimeout. ')]);
  });
});

describe('the connection of a queue', () => {
  async function open(client: Promise<unknown>) {
    const add = vi.fn(async () => ({}));
    const queue = bullmqQueue({
      name: 'webhooks',
      add,
      getJob: async () => undefined,
      getJobState: async () => 'waiting',
      getBackend: () => ({ client }),
    });
    await enqueue(queue, newDelivery()).catch(() => {});
  }

  test('without a time limit leads to one line on stderr', async () => {
    await open(clientOf({ retryStrategy, reconnectOnError, maxRetriesPerRequest: 1 }));
    expect(lines()).toEqual([
      expect.stringMatching(
        /the connection of the queue "webhooks" has no socketTimeout\. .* answered 503 .* socketTimeout: 5000, /,
      ),
    ]);
  });

  test.each([
    ['has one, whatever else it lacks', () => clientOf({ retryStrategy, socketTimeout: 5_000 })],
    ['is of another driver', () => clientOf({})],
    ['cannot be made', () => Promise.reject(new Error('Connection is closed.'))],
  ])('leads to no line if it %s', async (_, connected) => {
    await open(connected());
    expect(lines()).toEqual([]);
  });
});
