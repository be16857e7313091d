import { createReceiver, orderSchema } from 'storefront-webhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { readRetryAfter } from '../../src/api/exchange.js';
import { toSince } from '../../src/cli/times.js';
import { isYoungerThan } from '../../src/recovery/delivery-status.js';
import { toSortable, toTime } from '../../src/schemas/values.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

const ZONES = ['UTC', 'America/Los_Angeles', 'Asia/Kolkata', 'Pacific/Kiritimati'];
const AT = Date.UTC(2026, 10, 20, 8, 30, 15);

const { TZ } = process.env;
afterEach(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

describe.each(ZONES)('on a machine in the zone %s, a time without an offset is in UTC', (zone) => {
  test.each([
    ['2026-11-20T08:30:15', AT],
    ['2026-11-20 08:30:15', AT],
    ['2026-11-20T08:30:15.250', AT + 250],
    ['2026-11-20T08:30', AT - 15_000],
    ['Fri Nov 20 2026 08:30:15', AT],
    ['Nov 20, 2026, 8:30:15 AM', AT],
    ['2026/11/20 08:30:15', AT],
    ['Fri Nov 20 08:30:15 2026', AT],
    ['11-20-2026', AT - 30_615_000],
    // These have an offset, or are dates of ISO 8601, which is in UTC.
    ['2026-11-20', AT - 30_615_000],
    ['2026-11-20T08:30:15Z', AT],
    ['2026-11-20 08:30:15 UTC', AT],
    ['2026-11-20T09:30:15+01:00', AT],
    ['2026-11-20T09:30:15.000000+01:00', AT],
    ['Fri, 20 Nov 2026 09:30:15.5 +0100', AT + 500],
    ['2026-11-20 09:30:15 +0100', AT],
    ['2026-11-20 09:30:15+01', AT],
    ['2026-11-20T03:30:15.250123-05', AT + 250],
    ['Fri, 20 Nov 2026 08:30:15 GMT', AT],
    ['Fri, 20 Nov 2026 03:30:15 EST', AT],
    ['Fri, 20 Nov 2026 09:30:15 +0100', AT],
    ['Fri Nov 20 2026 09:30:15 GMT+0100 (Central European Standard Time)', AT],
  ])('%s', (text, time) => {
    process.env.TZ = zone;
    expect(toTime(text)).toBe(time);
  });

  test('as maxAge, the fields of a record, and skipOlder read it', async () => {
    process.env.TZ = zone;
    const maxAge = 60_000;
    const receiver = createReceiver({ secret: SECRET, maxAge, hooks: { onRejected() {} } });
    receiver.on('*', () => {});
    const aged = (ms: number) =>
      paidOrder({ updated_at: new Date(Date.now() - ms).toISOString().slice(0, -1) });
    expect(await deliver(receiver, aged(1000))).toMatchObject({ status: 200 });
    expect(await deliver(receiver, aged(120_000))).toMatchObject({ status: 422 });
    const reading = orderSchema.read(paidOrder({ updated_at: '2026-11-20 08:30:15' }));
    expect(reading).toMatchObject({ value: { updated_at: '2026-11-20T08:30:15Z' }, issues: [] });
    expect(toSortable('2026-11-20T08:30:15.250123')).toBe('2026-11-20T08:30:15.250123');
    expect(toSortable('2026-11-20 03:30:15.250123-05')).toBe('2026-11-20T08:30:15.250123');
  });

  test("as --since, the provider's log, and Retry-After read it", () => {
    process.env.TZ = zone;
    expect(toSince('2026-11-20T08:30:15')).toEqual(new Date(AT));
    const entry = { updated_at: undefined, created_at: '2026-11-20T08:30:15' };
    expect([1000, 3000].map((ms) => isYoungerThan(ms, entry, AT + 2000))).toEqual([false, true]);
    const at = new Date(Date.now() + 600_000).toUTCString();
    const [, day, month, year, time] = at.split(' ');
    const asctime = `${at.slice(0, 3)} ${month} ${day} ${time} ${year}`;
    const waitMs = readRetryAfter({ headers: new Headers({ 'retry-after': asctime }) });
    expect(Math.round((waitMs ?? 0) / 60_000)).toBe(10);
  });

  test('as retiredSecrets reads it', () => {
    process.env.TZ = zone;
    const retiredSecrets = [{ secret: 'a', until: '2026-11-20T08:30:15' }];
    expect(() => createReceiver({ secret: SECRET, retiredSecrets })).not.toThrow();
    const unread = [{ secret: 'a', until: '2026-13-45' }];
    expect(() => createReceiver({ secret: SECRET, retiredSecrets: unread })).toThrow(
      /retiredSecrets/,
    );
  });
});
