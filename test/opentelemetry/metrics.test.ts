import { metrics as globalMetrics, type MeterProvider, SpanStatusCode } from '@opentelemetry/api';
import { DataPointType, InstrumentType } from '@opentelemetry/sdk-metrics';
import {
  createReceiver,
  memoryStore,
  type StoreTransactions,
  type Transacted,
} from 'storefront-webhooks';
import { openTelemetry } from 'storefront-webhooks/opentelemetry';
import { describe, expect, test } from 'vitest';
import { Reporter } from '../../src/report/hooks.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { collecting, traced } from './collected.js';

describe('the counter of deliveries', () => {
  test('has the outcome, the event and the source', async () => {
    const { receiver, points } = traced();
    let fails = true;
    receiver.on('order:paid', () => {
      if (fails) throw new Error('no');
    });
    await deliver(receiver, paidOrder());
    fails = false;
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder());
    await deliver(receiver, { id: 'x' }, { event: 'anything' });
    const of = (event: string, outcome: string) => ({
      'messaging.destination.name': event,
      'storefront_webhooks.outcome': outcome,
      'storefront_webhooks.source': 'webhook',
      value: 1,
    });
    expect(await points('storefront_webhooks.deliveries')).toEqual([
      of('order:paid', 'failed'),
      of('order:paid', 'handled'),
      of('order:paid', 'duplicate'),
      of('_OTHER', 'ignored'),
    ]);
  });

  test('has the reason of a rejection', async () => {
    const { receiver, points } = traced();
    await deliver(receiver, paidOrder(), { secret: 'another secret' });
    await deliver(receiver, paidOrder({ status: 0 }));
    await deliver(receiver, '{');
    const of = (code: string, source = {}) => ({
      'messaging.destination.name': '_OTHER',
      'storefront_webhooks.outcome': 'rejected',
      'storefront_webhooks.rejection.code': code,
      ...source,
      value: 1,
    });
    expect(await points('storefront_webhooks.deliveries')).toEqual([
      of('signature_invalid'),
      of('payload_invalid', { 'storefront_webhooks.source': 'webhook' }),
      of('body_not_json'),
    ]);
  });

  test('counts rejections of a misconfigured receiver', async () => {
    const secret = async () => {
      throw new RangeError('no such shop');
    };
    const { telemetry, points } = traced();
    const hooks = { onError() {} };
    await deliver(createReceiver({ secret, telemetry, hooks }), paidOrder());
    expect(await points('storefront_webhooks.deliveries')).toEqual([
      {
        'messaging.destination.name': '_OTHER',
        'storefront_webhooks.outcome': 'failed',
        value: 1,
      },
    ]);
  });

  test('counts requests that are answered 503 because of overload', async () => {
    const { telemetry, points } = traced();
    new Reporter({ hooks: {}, telemetry, debug: false }).shed();
    expect(await points('storefront_webhooks.deliveries')).toEqual([
      {
        'messaging.destination.name': '_OTHER',
        'storefront_webhooks.outcome': 'unavailable',
        value: 1,
      },
    ]);
  });

  test('has a limited number of event names', async () => {
    const { receiver, metrics } = traced();
    receiver.on('order:paid', () => {});
    for (let n = 0; n < 50; n++) {
      const sent = { event: `event ${n}`, id: `id ${n}` };
      await deliver(receiver, { id: n }, sent);
      await deliver(receiver, { id: n }, { ...sent, secret: 'another secret' });
      await deliver(receiver, paidOrder({ status: n }), { id: `id ${n}` });
    }
    const counts = (await metrics()).map(({ descriptor, dataPoints }) => [
      descriptor.name,
      dataPoints.length,
    ]);
    expect(Object.fromEntries(counts)).toEqual({
      'messaging.process.duration': 2,
      'storefront_webhooks.deliveries': 3,
      'storefront_webhooks.store.deliveries': 3,
    });
  });
});

describe('durations', () => {
  const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

  test('of processing are the durations of the spans, in seconds, as the conventions require', async () => {
    const { receiver, metrics, span } = traced();
    receiver.on('order:paid', () => new Promise((resolve) => setTimeout(resolve, 20)));
    await deliver(receiver, paidOrder());
    const metric = (await metrics()).find(
      ({ descriptor }) => descriptor.name === 'messaging.process.duration',
    );
    expect(metric?.descriptor).toMatchObject({ type: InstrumentType.HISTOGRAM, unit: 's' });
    if (metric?.dataPointType !== DataPointType.HISTOGRAM) throw new Error('It is no histogram.');
    const [point] = metric.dataPoints;
    expect(point?.attributes).toEqual({
      'messaging.system': 'storefront_webhooks',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'order:paid',
      'storefront_webhooks.outcome': 'handled',
    });
    expect(point?.value.buckets.boundaries).toEqual(BOUNDARIES);
    const [seconds, nanoseconds] = span('process order:paid').duration;
    expect(point?.value.sum).toBeCloseTo(seconds + nanoseconds / 1e9, 5);
    expect(point?.value.sum).toBeGreaterThan(0.015);
  });

  test('of queueing and its failures are recorded separately', async () => {
    const queue = { durable: true, enqueue: () => Promise.reject(new Error('down')) } as const;
    const { receiver, points } = traced({ queue });
    receiver.on('order:paid', () => {});
    await deliver(receiver, paidOrder());
    expect(await points('messaging.process.duration')).toEqual([]);
    expect(await points('messaging.client.operation.duration')).toMatchObject([
      {
        'messaging.operation.name': 'send',
        'error.type': 'unavailable',
        value: { count: 1, buckets: { boundaries: BOUNDARIES } },
      },
    ]);
  });

  test('of handlers are recorded for each handler', async () => {
    const { receiver, points } = traced();
    receiver.on('order:paid', () => {}, { name: 'ship' });
    receiver.on('order:paid', () => Promise.reject(new RangeError('no')), { name: 'mail' });
    await deliver(receiver, paidOrder());
    const recorded = await points('storefront_webhooks.handler.duration');
    // The handlers run in parallel, so either may end first.
    const mail = { 'storefront_webhooks.handler': 'mail', 'error.type': 'RangeError' };
    const buckets = expect.objectContaining({ boundaries: [...BOUNDARIES, 30, 60] });
    expect(recorded).toHaveLength(2);
    expect(recorded).toContainEqual({
      'storefront_webhooks.handler': 'ship',
      value: expect.objectContaining({ count: 1, buckets }),
    });
    expect(recorded).toContainEqual({ ...mail, value: expect.objectContaining({ count: 1 }) });
  });
});

describe('a handler with a transaction', () => {
  test.each<[Transacted | Error, object | undefined]>([
    [{ state: 'done' }, {}],
    [{ state: 'known' }, undefined],
    [{ state: 'busy' }, undefined],
    [{ state: 'lost' }, undefined],
    [{ state: 'unavailable', cause: new Error('down') }, { 'error.type': 'unavailable' }],
    [new RangeError('no connection'), { 'error.type': 'RangeError' }],
  ])('that ends as %j counts as a run only if it was one', async (end, counted) => {
    const transactions: StoreTransactions<unknown> = {
      check() {},
      refuseStep() {
        throw new Error('it has no steps');
      },
      run: async () => {
        if (end instanceof Error) throw end;
        return end;
      },
    };
    const { receiver, points, span } = traced({ store: durableStore(() => ({ transactions })) });
    receiver.onPaid(() => {}, { transaction: true });
    await deliver(receiver, paidOrder());
    const runs = (await points('storefront_webhooks.handler.duration')).map(
      ({ value, ...attributes }) => attributes,
    );
    const handler = { 'storefront_webhooks.handler': 'onPaid' };
    expect(runs).toEqual(counted ? [{ ...handler, ...counted }] : []);
    const isError = counted !== undefined && 'error.type' in counted;
    const code = isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET;
    expect(span('handle onPaid').status.code).toBe(code);
  });
});

test('the run of a handler fails if a step fails that it does not await', async () => {
  const { receiver, points, span } = traced();
  const step = async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new RangeError('no');
  };
  receiver.on('order:paid', ({ once }) => void once('mail', step));
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
  expect(await points('storefront_webhooks.handler.duration')).toMatchObject([
    { 'error.type': 'RangeError', value: { count: 1 } },
  ]);
  expect(span('handle order:paid').status.code).toBe(SpanStatusCode.ERROR);
});

test('metrics go to the global provider, even if it is set after the receiver was created', async () => {
  const { points, meterProvider } = collecting();
  const telemetry = openTelemetry();
  const receiver = createReceiver({ secret: SECRET, store: memoryStore(), telemetry });
  receiver.on('order:paid', () => {});
  const provider: MeterProvider = meterProvider;
  globalMetrics.setGlobalMeterProvider(provider);
  try {
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder());
  } finally {
    globalMetrics.disable();
  }
  expect(await points('storefront_webhooks.deliveries')).toHaveLength(2);
});
