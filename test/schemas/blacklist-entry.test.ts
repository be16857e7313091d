import { blacklistEntrySchema } from 'storefront-webhooks';
import { expect, test } from 'vitest';

const entry = {
  id: 'bl_1',
  blacklist_type: 1,
  blocked_data: 'buyer@example.com',
  note: 'asked for too many refunds',
  created_at: '2026-01-05T09:00:00.000000+00:00',
  updated_at: '2026-01-05T09:00:00.000000+00:00',
};

test.each([
  [1, 'buyer@example.com'],
  [2, '192.0.2.14'],
  [3, 'DE'],
  [4, 'a type that is added later'],
])('a blacklist entry of type %i may block "%s"', (blacklist_type, blocked_data) => {
  const value = { ...entry, blacklist_type, blocked_data };
  expect(blacklistEntrySchema.read(value)).toEqual({ value, issues: [] });
});

test.each(['1', 'email', 1.5, null])('a blacklist entry rejects the type %j', (blacklist_type) => {
  expect(blacklistEntrySchema.read({ ...entry, blacklist_type })).toEqual({
    issues: [{ path: 'blacklist_type', message: 'expected integer' }],
  });
});

test('the note of a blacklist entry may be null', () => {
  const value = { ...entry, note: null };
  expect(blacklistEntrySchema.read(value)).toEqual({ value, issues: [] });
});
