import type { SealedDelivery } from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { traced, withAsyncContext } from './collected.js';

withAsyncContext();

const CANARY = 'canary-4711@example.com';

test('spans and metrics contain no payload, secret, signature or error message', async () => {
  const jobs: SealedDelivery[] = [];
  const queue = {
    durable: true,
    enqueue: async (delivery: SealedDelivery) => {
      jobs.push(delivery);
      if (jobs.length > 3) throw new Error(`no room for ${CANARY}`);
      return { id: delivery.key };
    },
  } as const;
  const payload = paidOrder({ email: CANARY, custom: CANARY });
  const refused = { ...payload, status: 0 };
  const quoting = () => {
    const quoted = `cannot mail ${JSON.stringify(payload)}`;
    throw Object.assign(new Error(quoted, { cause: quoted }), {
      name: CANARY,
      code: CANARY,
      detail: quoted,
    });
  };

  const [direct, queued] = [traced(), traced({ queue })];
  for (const { receiver } of [direct, queued]) {
    receiver.on('order:paid', quoting, { name: 'quoting' });
    receiver.on('order:paid', () => {}, { name: 'quiet' });
    const genuine = [payload, refused, `{ "email": "${CANARY}"`, { ...payload, id: 'ord_2' }];
    for (const [n, sent] of genuine.entries()) await deliver(receiver, sent, { id: `whl_${n}` });
    await deliver(receiver, payload, { event: 'order:made up' });
    await deliver(receiver, payload, { secret: 'another secret' });
    await deliver(receiver, payload, { id: 'whl_4' });
  }
  for (const job of jobs) await queued.receiver.dispatch(job);

  const signature = sign(new TextEncoder().encode(JSON.stringify(payload)), SECRET);
  for (const { spans, metrics } of [direct, queued]) {
    const told = spans().map(({ name, attributes, events, links, status, resource }) => {
      return { name, attributes, events, links, status, resource: resource.attributes };
    });
    const all = JSON.stringify([told, await metrics()]);
    // Shows that the search looks at the right data.
    expect(all).toMatch(
      /handle quoting.*"error\.type":"Error".*whl_0.*messaging\.process\.duration/,
    );
    for (const secret of [CANARY, 'canary', 'cannot mail', 'no room', 'ord_', SECRET, signature]) {
      expect(all).not.toContain(secret);
    }
    // No stack.
    expect(all).not.toMatch(/secrecy\.test|\bat /);
  }
});
