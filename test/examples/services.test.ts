import { readFileSync } from 'node:fs';
import type { Order, Receiver, WebhookEvent } from 'storefront-webhooks';
import { type Fixture, loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

/** What a handler gets to see of each service's delivery. */
const SERVICES = {
  sellix: {
    order: {
      id: 'fa24e5-7cd01fe0a3-3b1f02',
      email: 'buyer@example.com',
      status: 'COMPLETED',
      custom: { Discord: 'buyer#1' },
      product_title: 'Øre / key',
      updated_at: '2023-11-14T22:14:02.000Z',
    },
    unpaid: (text: string) => text.replace('"COMPLETED"', '"PENDING"'),
  },
  shoppex: {
    order: { id: '5c1b80-22ae', email: 'buyer@example.com', status: 'COMPLETED', quantity: 2 },
    unpaid: (text: string) => text.replace('"COMPLETED"', '"PENDING"'),
  },
  shoppy: {
    order: {
      id: 'a1B2c3D',
      email: 'buyer@example.com',
      status: 100,
      custom: [{ name: 'Discord', value: 'buyer#1' }],
      product: { id: 'zY9x8', title: 'Premium' },
    },
    unpaid: (text: string) => text.replace('"2021-03-20T10:00:05.123456Z"', 'null'),
  },
};

const handled = vi.fn();
const receivers = new Map<string, Receiver>();

beforeAll(async () => {
  process.env.WEBHOOK_SECRET = 'a secret for tests';
  for (const name of Object.keys(SERVICES)) {
    const { receiver }: { receiver: Receiver } = await import(`../../examples/services/${name}.ts`);
    receiver.on('order:*', (event: WebhookEvent<string, Order>) => handled(event.event, event));
    receivers.set(name, receiver);
  }
});
afterAll(() => {
  delete process.env.WEBHOOK_SECRET;
});

const text = ({ body }: Fixture) => new TextDecoder().decode(body);
const written = (fixture: Fixture, changed: string): Fixture => ({
  ...fixture,
  body: new TextEncoder().encode(changed),
});

describe.each(Object.entries(SERVICES))('a delivery of %s', (name, { order, unpaid }) => {
  const saved = loadFixture(`examples/services/${name}.hook.json`);
  const send = (fixture: Fixture, options: { event?: string } = {}) => {
    const receiver = receivers.get(name);
    if (!receiver) throw new Error(`no receiver of ${name}`);
    return replay(receiver, fixture, options);
  };

  test('is an order, and its retry a duplicate, however it is encoded', async () => {
    handled.mockClear();
    expect(await send(saved)).toMatchObject({ asExpected: true });
    const again = JSON.stringify(JSON.parse(text(saved)), null, 1);
    expect(await send(written(saved, again))).toMatchObject({ outcome: 'duplicate' });
    expect(handled).toHaveBeenCalledOnce();
    const [event, { payload }] = handled.mock.calls[0] ?? [];
    expect(event).toBe('order:paid');
    expect(payload).toMatchObject(order);
  });

  test('is no paid order before it is paid', async () => {
    const hooks = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const pending = written(saved, unpaid(text(saved)));
    expect(text(pending)).not.toBe(text(saved));
    expect(await send(pending)).toMatchObject({ status: 422 });
    hooks.mockRestore();
  });

  test('cannot be given another event by a header', async () => {
    handled.mockClear();
    const result = await send(written(saved, `${text(saved)} `), { event: 'order:created' });
    expect(['duplicate', 'rejected']).toContain(result.outcome);
    expect(handled).not.toHaveBeenCalled();
  });

  test('is explained on the page of the services, in the same words', () => {
    const code = readFileSync(`examples/services/${name}.ts`, 'utf8');
    expect(readFileSync('docs/services.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  });
});
