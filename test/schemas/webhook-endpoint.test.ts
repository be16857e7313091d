import { webhookEndpointSchema } from 'storefront-webhooks';
import { expect, test } from 'vitest';

const endpoint = {
  id: 'whe_1',
  url: 'https://shop.example/webhooks',
  enabled: false,
  events: ['order:paid', 'an:event that is added later'],
  created_at: '2026-01-05T09:00:00.000000+00:00',
  updated_at: '2026-01-05T09:00:00.000000+00:00',
};

test('a webhook endpoint may be disabled, and may subscribe to unknown events', () => {
  expect(webhookEndpointSchema.read(endpoint)).toEqual({ value: endpoint, issues: [] });
});

test.each(['events', 'enabled'])('the %s of a webhook endpoint rejects text', (field) => {
  expect(webhookEndpointSchema.read({ ...endpoint, [field]: 'order:paid' })).toMatchObject({
    value: { id: 'whe_1', [field]: undefined },
    issues: [{ path: field }],
  });
});
