import { reconcile } from 'storefront-webhooks/recovery';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { durableStore } from '../support/durable.js';
import { ENDPOINT, openShop, provider, URL } from './provider.js';

beforeEach(() => {
  const timers = ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const;
  vi.useFakeTimers({ toFake: [...timers, 'performance', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** Reconciles a shop, every second by default. */
function begin(
  { receiver }: Pick<ReturnType<typeof openShop>, 'receiver'>,
  onResult: () => void,
  { interval = '1s', url = URL }: { interval?: string; url?: string | readonly string[] } = {},
) {
  return reconcile.every(interval, {
    ...{
      receiver,
      client: provider({
        logs: [],
        endpoints: [url].flat().map((one) => ({ ...ENDPOINT, url: one })),
      }),
      url,
      onResult,
    },
    ...{ perSecond: Number.POSITIVE_INFINITY, since: new Date(0), delivered: () => [] },
  });
}

test('a schedule of one process runs at each of its intervals, also if the store is slow to grant a lease', async () => {
  let claims = 0;
  const store = durableStore(({ claim }) => ({
    // The lease of every second run begins late. It has to end before the next run all the same.
    async claim(...args) {
      claims += 1;
      if (claims % 2 === 1) await new Promise((resolve) => setTimeout(resolve, 50));
      return claim(...args);
    },
  }));
  const onResult = vi.fn();
  const schedule = begin(openShop({ store }), onResult);
  await vi.advanceTimersByTimeAsync(4_500);
  await schedule.stop();
  expect(onResult).toHaveBeenCalledTimes(4);
});

test('the schedules of two shops that share a store both run', async () => {
  const store = durableStore();
  const ran: string[] = [];
  const schedules = ['books', 'music'].map((scope) =>
    begin(openShop({ store, scope }), () => void ran.push(scope)),
  );
  await vi.advanceTimersByTimeAsync(2_500);
  await Promise.all(schedules.map((schedule) => schedule.stop()));
  expect(ran.sort()).toEqual(['books', 'books', 'music', 'music']);
});

test('the schedules of two addresses of one receiver both run, and so do two at different intervals', async () => {
  const shop = openShop();
  const ran: string[] = [];
  const run = (name: string, options: { interval?: string; url?: string }) =>
    begin(shop, () => void ran.push(name), options);
  const schedules = [
    run('books', {}),
    run('music', { url: 'https://music.example/webhooks' }),
    run('slow', { interval: '2s' }),
  ];
  await vi.advanceTimersByTimeAsync(2_500);
  await Promise.all(schedules.map((schedule) => schedule.stop()));
  expect(ran.sort()).toEqual(['books', 'books', 'music', 'music', 'slow']);
});

test('the schedules of two processes that name the same addresses in another order run once per interval', async () => {
  const shop = openShop();
  const onResult = vi.fn();
  const urls = [URL, 'https://music.example/webhooks'];
  const schedules = [urls, urls.toReversed()].map((url) => begin(shop, onResult, { url }));
  await vi.advanceTimersByTimeAsync(2_500);
  await Promise.all(schedules.map((schedule) => schedule.stop()));
  expect(onResult).toHaveBeenCalledTimes(2);
});
