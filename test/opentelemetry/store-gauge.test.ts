import type { CountFilter } from 'storefront-webhooks';
import { openTelemetry } from 'storefront-webhooks/opentelemetry';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { deliver, paidOrder } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { collecting, traced } from './collected.js';

const GAUGE = 'storefront_webhooks.store.deliveries';
const COUNTS = { dead: 3, stalled: 5, failing: 7 };

afterEach(() => vi.useRealTimers());

describe('the number of unfinished deliveries in the store', () => {
  test('is a gauge', async () => {
    const { points, tracerProvider, meterProvider } = collecting();
    openTelemetry({
      tracerProvider,
      meterProvider,
      store: durableStore(() => ({ count: async ({ state }) => COUNTS[state] })),
    });
    expect(await points(GAUGE)).toEqual([
      { 'storefront_webhooks.state': 'dead', value: 3 },
      { 'storefront_webhooks.state': 'stalled', value: 5 },
      { 'storefront_webhooks.state': 'failing', value: 7 },
    ]);
  });

  test('is not left out silently because the option has another name', () => {
    const store = durableStore(() => ({ count: async () => 0 }));
    // @ts-expect-error: for programs without types
    expect(() => openTelemetry({ stores: store })).toThrow(
      'openTelemetry(): there is no option stores. Did you mean "store"?',
    );
  });

  test('is absent only while the store is down', async () => {
    const { points, tracerProvider, meterProvider } = collecting();
    let isDown = true;
    openTelemetry({
      tracerProvider,
      meterProvider,
      store: durableStore(() => ({
        count: ({ state }) => {
          if (!isDown) return Promise.resolve(COUNTS[state]);
          if (state === 'dead') throw new Error('down');
          return Promise.reject(new Error('down'));
        },
      })),
    });
    expect(await points(GAUGE)).toEqual([]);
    isDown = false;
    expect(await points(GAUGE)).toHaveLength(3);
  });

  test('delays a collection only briefly, and is read again later', async () => {
    vi.useFakeTimers();
    const { points, tracerProvider, meterProvider } = collecting();
    let answers = false;
    const count = vi.fn(({ state }: CountFilter) =>
      answers ? Promise.resolve(COUNTS[state]) : new Promise<number>(() => {}),
    );
    openTelemetry({ tracerProvider, meterProvider, store: durableStore(() => ({ count })) });
    // Collect twice at the same time: the gauge asks the store once.
    const late = Promise.all([points(GAUGE), points(GAUGE)]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await late).toEqual([[], []]);
    // A slow store is not asked again while it works.
    const again = points(GAUGE);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await again).toEqual([]);
    expect(count).toHaveBeenCalledTimes(3);
    answers = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await points(GAUGE)).toHaveLength(3);
  });

  test('is read once per collection, for any number of deliveries', async () => {
    const count = vi.fn(async ({ state }: CountFilter) => COUNTS[state]);
    const { receiver, points } = traced({ store: durableStore(() => ({ count })) });
    receiver.on('order:paid', () => {});
    for (const id of ['whl_1', 'whl_2', 'whl_3']) await deliver(receiver, paidOrder(), { id });
    expect(await points(GAUGE)).toHaveLength(3);
    expect(count).toHaveBeenCalledTimes(3);
  });

  test('is not a metric without a store', async () => {
    const { points, tracerProvider, meterProvider } = collecting();
    openTelemetry({ tracerProvider, meterProvider });
    expect(await points(GAUGE)).toEqual([]);
  });
});
