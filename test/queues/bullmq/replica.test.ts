import { type BullmqQueue, bullmqQueue } from 'storefront-webhooks/bullmq';
import { describe, expect, test, vi } from 'vitest';
import { newDelivery } from '../deliveries.js';

const retryStrategy = () => 100;

describe('the client of a queue whose server has become a replica', () => {
  const READONLY = new Error("READONLY You can't write against a read only replica.");

  function open(parts: object) {
    const disconnect = vi.fn();
    const client = {
      status: 'ready',
      isCluster: false,
      options: { retryStrategy, socketTimeout: 5_000 },
      disconnect,
      ...parts,
    };
    const fails: BullmqQueue['add'] = () => Promise.reject(READONLY);
    const queue = bullmqQueue({
      add: fails,
      getJob: () => Promise.reject(READONLY),
      getJobState: async () => 'unknown',
      getBackend: () => ({ client: Promise.resolve(client) }),
    });
    const call = (how: 'enqueue' | 'redrive') => {
      const delivery = newDelivery();
      const { signal } = new AbortController();
      return expect(queue[how]?.(delivery, { key: delivery.key, signal })).rejects.toBe(READONLY);
    };
    return { disconnect, call };
  }

  test.each(['enqueue', 'redrive'] as const)(
    'connects again, once for any number of calls: %s',
    async (how) => {
      const { disconnect, call } = open({});
      for (let calls = 0; calls < 3; calls++) await call(how);
      expect(disconnect).toHaveBeenCalledExactlyOnceWith(true);
    },
  );

  test.each([
    ['would not come back', { options: { retryStrategy: null } }],
    ['is connecting already', { status: 'reconnecting' }],
    ['is a cluster', { isCluster: true }],
    ['is of another driver', { options: {} }],
  ])('is left alone if it %s', async (_, parts) => {
    const { disconnect, call } = open(parts);
    await call('enqueue');
    expect(disconnect).not.toHaveBeenCalled();
  });
});
