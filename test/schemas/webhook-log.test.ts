import { webhookLogSchema } from 'storefront-webhooks';
import { expect, test } from 'vitest';

const log = {
  id: 'whl_1',
  url: 'https://shop.example/webhooks',
  payload: { id: 'ord_1', status: 100 },
  event: 'order:paid',
  response: '{"message":"Handled."}',
  response_code: 200,
  response_headers: { server: 'nginx' },
  retries: 1,
  retry_limit: 3,
  next_retry_at: '2026-01-05T09:00:00.000000+00:00',
  created_at: '2026-01-05T09:00:00.000000+00:00',
  updated_at: '2026-01-05T09:00:00.000000+00:00',
};

test('an answered webhook log is parsed', () => {
  expect(webhookLogSchema.read(log)).toEqual({ value: log, issues: [] });
});

test('a pending webhook log has the code 0 and no response', () => {
  const pending = {
    ...log,
    response: null,
    response_code: 0,
    response_headers: null,
    next_retry_at: null,
  };
  expect(webhookLogSchema.read(pending)).toEqual({ value: pending, issues: [] });
});

test('the payload of a webhook log is kept unchanged', () => {
  const payload = JSON.parse('{"value":10.0,"__proto__":{"a":1}}');
  const reading = webhookLogSchema.read({ ...log, payload });
  expect('value' in reading && reading.value.payload).toBe(payload);
});

test.each(['{"id":"ord_1"}', null, [log.payload]])(
  'a webhook log rejects the payload %j',
  (payload) => {
    expect(webhookLogSchema.read({ ...log, payload })).toEqual({
      issues: [{ path: 'payload', message: 'expected object' }],
    });
  },
);

test('a webhook log may be about an unknown event', () => {
  expect(webhookLogSchema.read({ ...log, event: 'order:lost' })).toMatchObject({
    value: { event: 'order:lost' },
    issues: [],
  });
});
