import { createReceiver, memoryStore, orderSchema, orderStatusLabel } from 'storefront-webhooks';
import { createGoods } from 'storefront-webhooks/goods';
import { loadFixture, replay, shippedFixtures } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';

const secret = 'a secret for tests';

const isGoods = (name: string) => name.startsWith('goods/');

describe('the shipped fixtures', () => {
  test.each(shippedFixtures().filter(isGoods))('%s gets its expected answer', async (name) => {
    const hooks = { onRejected() {} };
    const goods = createGoods({ secret, store: memoryStore(), hooks }, ({ id }) => `KEY of ${id}`);
    const { status, body, asExpected } = await replay(goods, name);
    expect({ status, asExpected }).toEqual({ status, asExpected: true });
    expect(body.startsWith('KEY of ')).toBe(status === 200);
  });

  test.each(shippedFixtures().filter((name) => !isGoods(name)))(
    '%s gets its expected answer',
    async (name) => {
      const receiver = createReceiver({ secret, hooks: { onRejected() {} } }).on('*', () => {});
      // This one is the provider's second attempt.
      if (name === 'order:paid/duplicate') await replay(receiver, 'order:paid');
      const { status, outcome, fixture } = await replay(receiver, name);
      expect({ status, outcome }).toEqual(fixture.expect);
    },
  );

  test('cover every event of the specification', () => {
    const events = new Set(shippedFixtures().map((name) => loadFixture(name).event));
    expect([...events]).toEqual(
      expect.arrayContaining([
        'feedback:created',
        'feedback:updated',
        'order:created',
        'order:paid',
        'order:updated',
        'product:out_of_stock',
        'query:created',
        'query:replied',
        'query:updated',
      ]),
    );
  });

  test('cover every order status of the specification, and an unknown one', () => {
    const statuses = shippedFixtures()
      .filter((name) => name.startsWith('order:'))
      .map((name) => JSON.parse(Buffer.from(loadFixture(name).body).toString()).status);
    const labels = new Set(statuses.map(orderStatusLabel));
    expect(labels).toEqual(
      new Set([
        'not paid',
        'chargeback or reversed',
        'high risk',
        'partially paid',
        'awaiting cryptocurrency confirmations',
        'pending',
        'refunded',
        'completed',
        'status 60',
        'expired',
        'bad card',
        'status 10',
        'COMPLETED',
      ]),
    );
  });

  test('of genuine orders have no issues, so that a single one can raise an alarm', () => {
    const odd = shippedFixtures()
      .filter((name) => name.startsWith('order:'))
      .flatMap((name) => {
        const order = JSON.parse(Buffer.from(loadFixture(name).body).toString());
        return orderSchema.read(order).issues.map(({ path }) => `${name} ${path}`);
      });
    // Except the fixture for an issue.
    expect(odd).toEqual(['order:paid/missing-fields quantity']);
  });

  test('contain no signature that was ever valid', () => {
    for (const name of shippedFixtures()) {
      const { headers } = loadFixture(name);
      const signatures = headers.filter(([header]) => header === 'X-Service-Signature');
      for (const [, value] of signatures) expect(value).not.toMatch(/[2-9a-f]{8}/);
    }
  });
});
