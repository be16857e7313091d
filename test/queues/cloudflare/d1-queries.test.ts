import Database from 'libsql';
import type { Receiver } from 'storefront-webhooks';
import { cloudflareQueue, cloudflareWorker, d1Store } from 'storefront-webhooks/cloudflare';
import { expect, test, vi } from 'vitest';
import { enqueue, newDelivery, newReceiver } from '../../../src/testing/queue/deliveries.js';
import { D1OverLibsql } from '../../stores/d1/over-libsql.js';

/** Handles a batch in a new isolate, and returns how many queries D1 has answered. */
async function queriesOf(size: number, addHandlers: (receiver: Receiver) => Receiver) {
  const d1 = new D1OverLibsql(new Database(':memory:'));
  const queries = vi.spyOn(d1, 'prepare');
  const handleBatch = async (count: number) => {
    const receiver = addHandlers(newReceiver({ store: d1Store(d1) }));
    const bodies: unknown[] = [];
    const queue = cloudflareQueue({ send: async (body: unknown) => void bodies.push(body) });
    for (let made = 0; made < count; made++) await enqueue(queue, newDelivery());
    const ack = vi.fn();
    const messages = bodies.map((body, at) => ({
      ...{ id: `${at}`, body, attempts: 1, ack, retry() {} },
    }));
    await cloudflareWorker(receiver, { queue: 'live', deadLetterQueue: 'dead' })(
      { queue: 'live', messages },
      {},
    );
    expect(ack).toHaveBeenCalledTimes(count);
  };
  // Creates the tables, which a new isolate finds.
  await handleBatch(1);
  queries.mockClear();
  await handleBatch(size);
  return queries.mock.calls.length;
}

test.each([
  ['one handler', 5, ['deliver']],
  ['two handlers', 3, ['deliver', 'mail']],
  ['three handlers', 2, ['deliver', 'mail', 'count']],
])(
  'a delivery with %s takes at most 5 D1 queries for each, and a batch of %i fits Workers Free',
  async (_, size, names) => {
    for (const transaction of [false, true]) {
      const queries = await queriesOf(size, (receiver) =>
        names.reduce(
          (made, name) => made.on('order:paid', () => {}, { ...ONCE, name, transaction }),
          receiver,
        ),
      );
      expect(queries).toBeLessThanOrEqual(6 + size * 5 * names.length);
      expect(queries).toBeLessThan(50 - 3 * size);
    }
  },
);

const ONCE = { oncePer: ({ id }: { readonly id: string }) => id };
