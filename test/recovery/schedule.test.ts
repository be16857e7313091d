import { reconcile, type ScheduleOptions } from 'storefront-webhooks/recovery';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { durableStore } from '../support/durable.js';
import { ended } from '../support/patience.js';
import {
  ENDPOINT,
  entry,
  live,
  openOncePerOrder,
  openShop,
  type Provided,
  paid,
  provider,
  URL,
} from './provider.js';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function begin(provided: Provided, options: Partial<ScheduleOptions> = {}, interval = '1s') {
  const client = provider(provided);
  const schedule = reconcile.every(interval, {
    receiver: openShop().receiver,
    client,
    url: URL,
    perSecond: Number.POSITIVE_INFINITY,
    since: new Date(0),
    delivered: () => [],
    ...options,
  });
  return { client, schedule };
}

function linesOnStderr(): string[] {
  const lines: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line));
  return lines;
}

/** Makes later schedules wait for {@link nextInterval}. Other timers are real. */
function holdIntervals(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
}

function nextInterval(): void {
  vi.advanceTimersByTime(1_000);
}

/** Makes time pass only on request, also for the leases of a store. */
function holdTime(): void {
  const timers = ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const;
  vi.useFakeTimers({ toFake: [...timers, 'performance', 'Date'] });
}

/** The response of a provider that is temporarily unavailable. */
const later = () =>
  Response.json({ message: 'Later.' }, { status: 503, headers: { 'Retry-After': '50' } });

describe('a schedule', () => {
  test('aborts its run when it is stopped, and reports no error', async () => {
    holdIntervals();
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const { client, schedule } = begin({ logs: [], onRequest: later }, { onError });
    nextInterval();
    await vi.waitFor(() => expect(client.asked).toHaveLength(1));
    await ended(schedule.stop(), 'the schedule');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(errors).toEqual([]);
  });

  test('waits for a running onResult when it is stopped', async () => {
    holdIntervals();
    const steps: string[] = [];
    const { schedule } = begin(
      { logs: [], orders: [] },
      {
        async onResult() {
          steps.push('begun');
          await new Promise((resolve) => setTimeout(resolve, 200));
          steps.push('told');
        },
      },
    );
    nextInterval();
    await vi.waitFor(() => expect(steps).toEqual(['begun']));
    await schedule.stop();
    expect(steps).toEqual(['begun', 'told']);
  });

  test('aborts its run if its own signal aborts', async () => {
    holdIntervals();
    const own = new AbortController();
    const errors: unknown[] = [];
    const { client, schedule } = begin(
      { logs: [], onRequest: later },
      { signal: own.signal, onError: (error) => void errors.push(error) },
    );
    nextInterval();
    await vi.waitFor(() => expect(client.asked).toHaveLength(1));
    own.abort(new Error('enough'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    // Nothing is left for stop() to abort.
    vi.spyOn(AbortController.prototype, 'abort').mockImplementation(() => {});
    await ended(schedule.stop(), 'the schedule');
    expect(errors).toEqual([]);
  });

  test('takes no lease once its own signal has aborted, so that the schedules of other processes run', async () => {
    holdTime();
    const { receiver } = openShop();
    const own = new AbortController();
    const results = [vi.fn(), vi.fn()];
    const schedules = results.map((onResult, index) =>
      begin({ logs: [] }, { receiver, onResult, ...(index === 0 && { signal: own.signal }) }),
    );
    await vi.advanceTimersByTimeAsync(2_500);
    expect(results.map(({ mock }) => mock.calls.length)).toEqual([2, 0]);
    own.abort();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(results.map(({ mock }) => mock.calls.length)).toEqual([2, 3]);
    for (const { schedule } of schedules) await schedule.stop();
  });

  test('runs in one process per interval, whenever the others started', async () => {
    holdTime();
    const { receiver } = openShop();
    const began: number[] = [];
    const onResult = () => void began.push(performance.now());
    const provided: Provided = { logs: [] };
    const first = begin(provided, { receiver, onResult });
    await vi.advanceTimersByTimeAsync(500);
    const second = begin(provided, { receiver, onResult });
    await vi.advanceTimersByTimeAsync(2_900);
    await Promise.all([first.schedule.stop(), second.schedule.stop()]);
    const gaps = began.slice(1).map((at, after) => at - (began[after] ?? 0));
    expect(gaps.length).toBeGreaterThan(0);
    expect(gaps.filter((gap) => gap < 800)).toEqual([]);
  });

  test('in a single process runs at each of its intervals', async () => {
    holdTime();
    let runs = 0;
    const onResult = () => {
      runs += 1;
    };
    const { schedule } = begin({ logs: [] }, { onResult });
    await vi.advanceTimersByTimeAsync(4_500);
    await schedule.stop();
    expect(runs).toBe(4);
  });

  test('runs one at a time, even if a run is longer than an interval', async () => {
    holdTime();
    let running = 0;
    let most = 0;
    const { schedule } = begin(
      { logs: [] },
      {
        async onResult() {
          running += 1;
          most = Math.max(most, running);
          await new Promise((resolve) => setTimeout(resolve, 2_500));
          running -= 1;
        },
      },
    );
    await vi.advanceTimersByTimeAsync(3_300);
    const stopped = schedule.stop();
    await vi.advanceTimersByTimeAsync(3_000);
    await stopped;
    expect(most).toBe(1);
  });

  test('keeps no process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    const { schedule } = begin({ logs: [] }, {}, '1h');
    expect(timers()).toBe(before);
    await schedule.stop();
  });

  test.each([
    ['1s', 1_000],
    ['2m', 120_000],
    ['1h', 3_600_000],
  ])('of %s runs first after %i ms', async (interval, ms) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let claims = 0;
    const store = durableStore(({ claim }) => ({
      claim(...args) {
        claims += 1;
        return claim(...args);
      },
    }));
    const { schedule } = begin({ logs: [] }, { receiver: openShop({ store }).receiver }, interval);
    vi.advanceTimersByTime(ms - 1);
    expect(claims).toBe(0);
    vi.advanceTimersByTime(1);
    await vi.waitFor(() => expect(claims).toBe(1));
    await schedule.stop();
  });

  test('logs nothing if all orders agree', async () => {
    holdIntervals();
    const lines = linesOnStderr();
    const provided: Provided = { logs: [], orders: [paid(1)] };
    const { client, schedule } = begin(provided, { delivered: (ids) => ids });
    nextInterval();
    await vi.waitFor(() => expect(client.asked).toContain('GET /orders'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await schedule.stop();
    expect(lines).toEqual([]);
  });

  test('names ten of many orders', async () => {
    holdIntervals();
    const lines = linesOnStderr();
    const orders = Array.from({ length: 12 }, (_, at) => paid(at));
    const { schedule } = begin({ logs: [], orders });
    nextInterval();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    await schedule.stop();
    expect(lines[0]).toMatch(/do not agree on 12 orders: .*ord_9 \(not_delivered: unlogged\), …\./);
    expect(lines[0]).not.toContain('ord_10');
    expect(lines[0]).toContain('12 orders, from before');
  });

  test('names the addresses of the account, and advises no option, if no endpoint has the address', async () => {
    holdIntervals();
    const lines = linesOnStderr();
    const endpoints = [{ ...ENDPOINT, url: `${URL}s` }];
    const { schedule } = begin({ logs: [], endpoints, orders: [paid(1)] });
    nextInterval();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    await schedule.stop();
    expect(lines[0]).toContain('). This compared the wrong log: no webhook endpoint of this');
    expect(lines[0]).toContain(`no webhook endpoint of this account has the address ${URL}. `);
    expect(lines[0]).toContain(`${URL}s. Correct url`);
    expect(lines[0]).not.toContain('recover()');
  });

  test('does not say that the log is the wrong one if another address has an endpoint', async () => {
    holdIntervals();
    const lines = linesOnStderr();
    const { schedule } = begin({ logs: [], orders: [] }, { url: [URL, `${URL}/old`] });
    nextInterval();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    await schedule.stop();
    expect(lines[0]).not.toContain('wrong log');
    expect(lines[0]).toMatch(
      /to one of the addresses: .*webhooks\/old\. .* has not moved, correct url/,
    );
  });

  const disabled = [{ ...ENDPOINT, enabled: false }];
  test.each([
    [
      'an option, where recover() needs it',
      [ENDPOINT],
      openOncePerOrder,
      /unlogged\)\. 1 order that the log does not mention: use recover\(\) with orders: true\./,
    ],
    [
      'no option if the endpoint is disabled, which it reports',
      disabled,
      openOncePerOrder,
      /\. The webhook endpoint is disabled, .*\. 1 order: recover\(\) runs the missed deliveries\./,
    ],
    [
      'onPaid first, where recover() calls it unsafe',
      disabled,
      openShop,
      /new one\. 1 order, .*: deliver in receiver\.onPaid\(\), .* an oncePer, and mark .*markDone\(\)\. Then/,
    ],
  ])('advises %s', async (_, endpoints, open, advice) => {
    holdIntervals();
    const lines = linesOnStderr();
    const { receiver } = open();
    const logs = [await live({ receiver })];
    const { schedule } = begin({ logs, endpoints, orders: [paid(1)] }, { receiver });
    nextInterval();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    await schedule.stop();
    expect(lines[0]).toMatch(advice);
  });

  test.each([
    ['disabled', disabled, /^\S+ reconcile: The webhook endpoint is disabled, .*recreateEndpoint/],
    [
      'missing',
      [{ ...ENDPOINT, url: `${URL}s` }],
      /^\S+ reconcile: This compared the wrong log: no webhook endpoint .* Correct url before/,
    ],
    [
      'subscribed to other events',
      [{ ...ENDPOINT, events: ['order:updated'] }],
      /^\S+ reconcile: The webhook endpoint is subscribed to no event .*: add order:paid/,
    ],
  ])('reports an endpoint that is %s before any order is missed', async (_, endpoints, wanted) => {
    holdIntervals();
    const lines = linesOnStderr();
    const { schedule } = begin({ logs: [], endpoints });
    nextInterval();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    await schedule.stop();
    expect(lines[0]).toMatch(wanted);
  });

  test('advises recover() without an option if it needs none', async () => {
    holdIntervals();
    const lines = linesOnStderr();
    const { schedule } = begin({ logs: [entry(1)], orders: [paid(1)] });
    nextInterval();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    await schedule.stop();
    expect(lines[0]).toContain(
      '(not_delivered: refused). 1 order: recover() runs the missed deliveries. See ',
    );
  });

  test('logs to stderr if onError throws, and continues', async () => {
    const lines = linesOnStderr();
    const onError = () => {
      throw new Error('no pager');
    };
    const onResult = () => {
      throw new Error('no page');
    };
    const { schedule } = begin({ logs: [] }, { onResult, onError });
    await vi.waitFor(() => expect(lines.length).toBeGreaterThan(1));
    await schedule.stop();
    expect(lines[0]).toMatch(/tried again: .*no pager/);
  });

  test.each<[string, object]>([
    ['now', { now: new Date() }],
    ['onResults', { onResults() {} }],
  ])('rejects the unknown option %s before it starts', (name, options) => {
    expect(() => begin({ logs: [] }, options)).toThrow(
      new RegExp(`reconcile\\.every.*no option ${name}`),
    );
  });

  test('rejects an interval that is too long for a timer', () => {
    expect(() => begin({ logs: [] }, {}, '600h')).toThrow(/interval has to be a text such as/);
  });
});
