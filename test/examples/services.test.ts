import { readFileSync } from 'node:fs';
import type { Order, Receiver, WebhookEvent } from 'storefront-webhooks';
import { type Fixture, loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

/** The parts of each service's delivery that a handler gets. */
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
const onPaid = vi.fn();
const queries: unknown[] = [];
const receivers = new Map<string, Receiver>();

beforeAll(async () => {
  process.env.WEBHOOK_SECRET = 'a secret for tests';
  // Receivers of its own: another file in this worker may have used those of the examples.
  vi.resetModules();
  for (const name of Object.keys(SERVICES)) {
    const { receiver }: { receiver: Receiver } = await import(`../../examples/services/${name}.ts`);
    receiver
      .on('order:*', (event: WebhookEvent<string, Order>) => handled(event.event, event))
      .onPaid(onPaid)
      .on('query:created', ({ payload }) => void queries.push(payload));
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

  test('is an order, and its retry in another encoding is a duplicate', async () => {
    handled.mockClear();
    onPaid.mockClear();
    expect(await send(saved)).toMatchObject({ asExpected: true });
    const again = JSON.stringify(JSON.parse(text(saved)), null, 1);
    expect(await send(written(saved, again))).toMatchObject({ outcome: 'duplicate' });
    expect(handled).toHaveBeenCalledOnce();
    expect(onPaid).toHaveBeenCalledOnce();
    const [event, { payload }] = handled.mock.calls[0] ?? [];
    expect(event).toBe('order:paid');
    expect(payload).toMatchObject(order);
  });

  test('with another event keeps its record, and two of them are separate', async () => {
    const query = (id: number) =>
      written(saved, JSON.stringify({ event: 'query:created', data: { query: { id } } }));
    queries.length = 0;
    for (const id of [1, 2])
      expect(await send(query(id), { event: 'query:created' })).toMatchObject({
        outcome: 'handled',
      });
    expect(queries).toEqual([{ query: { id: 1 } }, { query: { id: 2 } }]);
  });

  test('does not count as a paid order before it is paid', async () => {
    const hooks = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const pending = written(saved, unpaid(text(saved)));
    expect(text(pending)).not.toBe(text(saved));
    expect(await send(pending)).toMatchObject({ status: 422 });
    hooks.mockRestore();
  });

  // Sellix and Shoppex have a word for each status; Shoppy has a field for each thing that has happened.
  const gone = [{ refund_id: 'rf_1' }, { disputed_at: '2021-03-22T08:00:00.000000Z' }];
  for (const change of name === 'shoppy' ? gone : []) {
    const [field = ''] = Object.keys(change);
    test(`is not paid once it has a ${field}`, async () => {
      onPaid.mockClear();
      const body = JSON.parse(text(saved));
      Object.assign(body.data.order, { id: field, ...change });
      const changed = JSON.stringify({ ...body, event: 'order:updated' });
      expect(await send(written(saved, changed), { event: 'order:updated' })).toMatchObject({
        outcome: 'handled',
      });
      expect(onPaid).not.toHaveBeenCalled();
    });
  }

  test('ignores another event in a header', async () => {
    handled.mockClear();
    const result = await send(written(saved, `${text(saved)} `), { event: 'order:created' });
    expect(['duplicate', 'rejected']).toContain(result.outcome);
    expect(handled).not.toHaveBeenCalled();
  });

  test('is explained on the page of the services with the same texts', () => {
    const code = readFileSync(`examples/services/${name}.ts`, 'utf8');
    expect(readFileSync('docs/services.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  });
});
