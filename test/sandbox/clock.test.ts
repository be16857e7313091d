import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Clock, toTimestamp } from '../../src/sandbox/clock.js';
import { openSeller, TUNER } from './seller.js';

const START = Date.UTC(2026, 0, 5, 9);
const HOUR = 3_600_000;

describe('a manual clock', () => {
  const open = () => new Clock({ mode: 'manual', start: START });

  test('stands still until it is advanced', async () => {
    const clock = open();
    clock.setTimer(START, () => expect.unreachable());
    await sleep(20);
    expect(clock.now()).toBe(START);
  });

  test('runs every timer that comes due while it advances, at its own time, one after another', async () => {
    const clock = open();
    const ran: [string, number][] = [];
    const note = (name: string) => async () => {
      const time = clock.now();
      await sleep(1);
      ran.push([name, time - START]);
    };
    clock.setTimer(START + 3 * HOUR, note('third'));
    clock.setTimer(START + HOUR, note('first'));
    clock.setTimer(START + HOUR, note('second'));
    clock.setTimer(START + 5 * HOUR, note('later'));
    await clock.advance(4 * HOUR);
    expect(ran).toEqual([
      ['first', HOUR],
      ['second', HOUR],
      ['third', 3 * HOUR],
    ]);
    expect(clock.now()).toBe(START + 4 * HOUR);
  });

  test('runs a timer that is set while it advances, if it is due', async () => {
    const clock = open();
    const times: number[] = [];
    const again = () => {
      times.push(clock.now() - START);
      clock.setTimer(clock.now() + HOUR, again);
    };
    clock.setTimer(START + HOUR, again);
    await clock.advance(3 * HOUR);
    expect(times).toEqual([HOUR, 2 * HOUR, 3 * HOUR]);
  });

  test('continues after a timer that throws', async () => {
    const clock = open();
    clock.setTimer(START + HOUR, () => Promise.reject(new Error('no')));
    let hasRun = false;
    clock.setTimer(START + HOUR, () => {
      hasRun = true;
    });
    await clock.advance(2 * HOUR);
    expect(hasRun).toBe(true);
  });

  test('does not run a cancelled timer', async () => {
    const clock = open();
    const timer = clock.setTimer(START + HOUR, () => expect.unreachable());
    timer.clear();
    await clock.advance(2 * HOUR);
  });
});

describe('a fast clock', () => {
  test('jumps to the next timer when no work is in progress', async () => {
    const clock = new Clock({ mode: 'fast', start: START });
    const ran = new Promise((resolve) =>
      clock.setTimer(START + 24 * HOUR, () => resolve(clock.now())),
    );
    expect(await ran).toBe(START + 24 * HOUR);
    clock.close();
  });

  test('waits for work in progress', async () => {
    const clock = new Clock({ mode: 'fast', start: START });
    const seen: number[] = [];
    const ran = new Promise<void>((resolve) => {
      void clock.during(async () => {
        clock.setTimer(START + HOUR, resolve);
        await sleep(20);
        seen.push(clock.now());
      });
    });
    await ran;
    expect(seen).toEqual([START]);
    clock.close();
  });

  test('waits for a timer before it jumps to the next one', async () => {
    const clock = new Clock({ mode: 'fast', start: START });
    const seen: string[] = [];
    clock.setTimer(START + HOUR, async () => {
      await sleep(20);
      seen.push('first');
    });
    await new Promise<void>((resolve) =>
      clock.setTimer(START + 2 * HOUR, () => {
        seen.push('second');
        resolve();
      }),
    );
    expect(seen).toEqual(['first', 'second']);
    clock.close();
  });
});

describe('a real clock', () => {
  test('runs other timers while one timer is slow or fails', async () => {
    const clock = new Clock({ mode: 'real' });
    clock.setTimer(clock.now(), () => Promise.reject(new Error('no')));
    clock.setTimer(clock.now(), () => new Promise(() => {}));
    await new Promise<void>((resolve) => clock.setTimer(clock.now() + 1, resolve));
    clock.close();
  });

  test('follows the system clock, and runs timers when they are due', async () => {
    const clock = new Clock({ mode: 'real' });
    const before = clock.now();
    await new Promise<void>((resolve) => clock.setTimer(before + 30, resolve));
    expect(clock.now() - before).toBeGreaterThanOrEqual(30);
    clock.close();
  });

  test('can be advanced', async () => {
    const clock = new Clock({ mode: 'real' });
    let hasRun = false;
    clock.setTimer(clock.now() + HOUR, () => {
      hasRun = true;
    });
    await clock.advance(HOUR);
    expect(hasRun).toBe(true);
    expect(clock.now() - Date.now()).toBeGreaterThan(HOUR - 1000);
    clock.close();
  });

  test('runs every timer that comes due while it advances, even timers that take longer than the real time', async () => {
    const clock = new Clock({ mode: 'real' });
    const seen: string[] = [];
    const repeat = (name: string, left: number) => {
      clock.setTimer(clock.now() + 10, async () => {
        await sleep(30);
        seen.push(name);
        if (left > 1) repeat(name, left - 1);
      });
    };
    for (const name of ['a', 'b', 'c']) repeat(name, 4);
    await clock.advance(HOUR);
    expect(seen).toHaveLength(12);
    clock.close();
  });
});

test('[spec: Resources and their fields] timestamps are ISO 8601 with a UTC offset and fractional seconds', () => {
  expect(toTimestamp(START + 12, 345)).toBe('2026-01-05T09:00:00.012345+00:00');
});

test('every timestamp is later than the one before, even if the clock stands still', () => {
  const clock = new Clock({ mode: 'manual', start: START });
  const times = Array.from({ length: 2500 }, () => clock.timestamp());
  expect(new Set(times).size).toBe(2500);
  expect(times.toSorted()).toEqual(times);
});

test('the HTTP API returns and advances the time of an account', async () => {
  const { send, account, client } = await openSeller({ clock: 'manual' });
  const before = await send('GET', '/sandbox/clock');
  expect(before.body).toMatchObject({ mode: 'manual' });
  const { status, body } = await send('POST', '/sandbox/clock', `ms=${HOUR}`);
  expect(status).toBe(200);
  expect(Date.parse(body.now) - Date.parse(before.body.now)).toBe(HOUR);
  const { created_at } = await client.products.create(TUNER);
  expect(Date.parse(created_at ?? '')).toBe(account.clock.now());
  expect((await send('POST', '/sandbox/clock', 'ms=-1')).status).toBe(400);
});

test('a sandbox advances the time of all its accounts, including accounts that are created later', async () => {
  const { sandbox, account } = await openSeller({ clock: 'manual' });
  const before = sandbox.clock.now();
  await account.clock.advance(HOUR);
  await sandbox.clock.advance(HOUR);
  expect(account.clock.now() - before).toBe(2 * HOUR);
  expect(sandbox.account('sk_test_other').clock.now() - before).toBe(HOUR);
});

test('an account that opens late has the time of its sandbox', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: START });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { sandbox, account } = await openSeller();
  vi.setSystemTime(START + HOUR);
  const late = sandbox.account('sk_test_late');
  expect([late.clock.now(), account.clock.now()]).toEqual([START + HOUR, START + HOUR]);
  await sandbox.clock.advance(HOUR);
  expect(sandbox.account('sk_test_later').clock.now()).toBe(START + 2 * HOUR);
});
