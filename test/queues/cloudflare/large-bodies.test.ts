import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { cloudflareQueue, cloudflareWorker } from 'storefront-webhooks/cloudflare';
import { expect, onTestFinished, test, vi } from 'vitest';
import { D1OverLibsql } from '../../stores/d1/over-libsql.js';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';

test('a large body in D1 is emptied once its delivery is done, and its other messages are done, too', async () => {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const large = new D1OverLibsql(database);
  const sent: unknown[] = [];
  const send = async (one: unknown) => void sent.push(one);
  const web = createReceiver({ secret: SECRET, queue: cloudflareQueue({ send }, { large }) });
  const order = paidOrder({ email: `${'x'.repeat(200_000)}@example.com` });
  for (let copies = 0; copies < 2; copies++) await deliver(web, order);
  const bodies = () =>
    database
      .prepare(
        'SELECT length(body) > 200000 AS isFull, (unixepoch() - at) / 86400 AS days FROM webhook_body',
      )
      .all();
  // The message was in the queue for almost as long as its body may be kept.
  database.exec('UPDATE webhook_body SET at = at - 28 * 86400');
  expect(bodies()).toMatchObject([{ isFull: 1, days: 28 }]);

  const handler = vi.fn();
  const names = { queue: 'webhooks', deadLetterQueue: 'webhooks-dead' };
  for (const body of sent) {
    // Each receiver has a memory of its own: only the empty body tells the second one that the delivery is done.
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', handler);
    const message = { id: 'm', body, attempts: 1, ack: vi.fn(), retry: vi.fn() };
    const handle = cloudflareWorker(receiver, { ...names, large: () => large });
    await handle({ queue: 'webhooks', messages: [message] }, {});
    expect(message.ack).toHaveBeenCalledOnce();
    expect(message.retry).not.toHaveBeenCalled();
    expect(bodies()).toMatchObject([{ isFull: 0, days: 0 }]);
  }
  expect(handler).toHaveBeenCalledOnce();
});
