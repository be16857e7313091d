import { WebhookDeliveries } from 'storefront-webhooks/cloudflare';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { encode, toUrl } from '../../../src/stores/durable-object/frames.js';
import { WakeUp } from '../../../src/stores/durable-object/wake-up.js';
import { LAYOUT } from '../../../src/stores/layout-version.js';

const MINUTE_MS = 60_000;
const NOW = 1_790_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The alarm of an object, which is unset after it rings. */
function alarms(at: number | null = null) {
  const fake = {
    at,
    getAlarm: vi.fn(async () => fake.at),
    setAlarm: vi.fn(async (time: number) => {
      fake.at = time;
    }),
  };
  return fake;
}

test('the earliest purge sets the alarm, and a later one costs nothing', async () => {
  const storage = alarms();
  const wakeUp = new WakeUp(storage);
  await wakeUp.by(NOW + 5_000);
  for (let later = 0; later < 9; later++) await wakeUp.by(NOW + 5_000 + later);
  expect(storage.at).toBe(NOW + 6_000);
  expect(storage.setAlarm).toHaveBeenCalledTimes(1);
  expect(storage.getAlarm).toHaveBeenCalledTimes(1);
  await wakeUp.by(NOW + 4_000);
  expect(storage.at).toBe(NOW + 5_000);
});

test('an object that was restarted keeps the alarm that is set', async () => {
  const storage = alarms(NOW + 3_000);
  await new WakeUp(storage).by(NOW + 5_000);
  expect(storage.setAlarm).not.toHaveBeenCalled();
});

test('an alarm that has rung is set again, at least a minute later', async () => {
  const storage = alarms(NOW);
  const wakeUp = new WakeUp(storage);
  await wakeUp.by(NOW + 5_000);
  storage.at = null;
  wakeUp.ring();
  await wakeUp.by(NOW - 99_000);
  expect(storage.at).toBe(NOW + MINUTE_MS);
  await wakeUp.by(NOW);
  expect(storage.setAlarm).toHaveBeenCalledTimes(1);
});

test('an alarm that has rung is set again at once if more is due', async () => {
  const storage = alarms();
  const wakeUp = new WakeUp(storage);
  wakeUp.ring();
  wakeUp.hurry();
  await wakeUp.by(NOW - 99_000);
  expect(storage.at).toBeLessThanOrEqual(NOW);
});

test.each([
  ['at once', 'more is due than it purges at a time', 500, 1_000],
  ['a minute later', 'all that was due is purged', 1, MINUTE_MS],
])('an object wakes up again %s if %s', async (_, __, rows, afterMs) => {
  const storage = alarms();
  const row = { purge_at: NOW, layout: LAYOUT, beside: LAYOUT };
  const sql = { exec: () => ({ toArray: () => Array(rows).fill(row) }) };
  const transactionSync = <Result>(work: () => Result) => work();
  const object = new WebhookDeliveries({ storage: { ...storage, sql, transactionSync } });
  await object.alarm();
  expect(storage.setAlarm.mock.calls).toEqual([[NOW + afterMs]]);
});

test('an alarm that could not be set is set by the next delivery that needs it', async () => {
  const storage = alarms();
  const wakeUp = new WakeUp(storage);
  storage.setAlarm.mockRejectedValueOnce(new Error('the storage is down'));
  await expect(wakeUp.by(NOW + 5_000)).rejects.toThrow('down');
  await wakeUp.by(NOW + 5_000);
  expect(storage.at).toBe(NOW + 6_000);
});

test('an object that could not purge is woken up again after the next delivery', async () => {
  const storage = alarms();
  const transactionSync = vi.fn(() => {
    throw new Error('the storage is down');
  });
  const row = { purge_at: NOW, layout: LAYOUT, beside: LAYOUT };
  const sql = { exec: () => ({ toArray: () => [row] }) };
  const object = new WebhookDeliveries({ storage: { ...storage, sql, transactionSync } });
  const complete = () =>
    object.fetch(new Request(toUrl('complete'), { method: 'POST', body: encode([0, 'key', 1]) }));
  await complete();
  expect(storage.setAlarm).toHaveBeenCalledTimes(1);
  await expect(object.alarm()).rejects.toThrow('down');
  storage.at = null;
  await complete();
  expect(storage.setAlarm).toHaveBeenCalledTimes(2);
});
