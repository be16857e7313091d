import {
  createNoopMeter,
  type MeterProvider,
  type Span,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { createReceiver, memoryStore, type SealedDelivery } from 'storefront-webhooks';
import { openTelemetry } from 'storefront-webhooks/opentelemetry';
import { describe, expect, test } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { withAsyncContext } from './collected.js';
import { queueInto } from './sealed.js';

withAsyncContext();

const broken = (): never => {
  throw new Error('telemetry is broken');
};

const brokenSpan: Span = {
  spanContext: broken,
  setAttribute: broken,
  setAttributes: broken,
  addEvent: broken,
  addLink: broken,
  addLinks: broken,
  setStatus: broken,
  updateName: broken,
  end: broken,
  isRecording: broken,
  recordException: broken,
};

function tracing(startSpan: () => Span): TracerProvider {
  return { getTracer: () => ({ startSpan, startActiveSpan: broken }) };
}

const noopMeter = createNoopMeter();
const brokenMeters: MeterProvider = {
  getMeter: () =>
    Object.assign(Object.create(noopMeter), {
      createCounter: () => ({ add: broken }),
      createHistogram: () => ({ record: broken }),
    }),
};

const noop = trace.getTracerProvider();

describe.each([
  ['an SDK that is missing', {}],
  ['a tracer that throws', { tracerProvider: tracing(broken) }],
  ['spans that throw', { tracerProvider: tracing(() => brokenSpan) }],
  ['meters that throw', { tracerProvider: noop, meterProvider: brokenMeters }],
])('%s', (_, providers) => {
  test('does not change the answer, and runs each handler once', async () => {
    const store = memoryStore();
    const ran: string[] = [];
    const receiver = createReceiver({
      secret: SECRET,
      store,
      hooks: { onError: () => {}, onRejected: () => {} },
      telemetry: openTelemetry({ ...providers, store }),
    });
    receiver.on('order:paid', () => void ran.push('ship'), { name: 'ship' });
    receiver.on('order:created', () => Promise.reject(new Error('no')));
    const answers = [
      await deliver(receiver, paidOrder()),
      await deliver(receiver, paidOrder()),
      await deliver(receiver, paidOrder({ status: 0 })),
      await deliver(receiver, '{'),
      await deliver(receiver, paidOrder(), { secret: 'another secret' }),
      await deliver(receiver, paidOrder(), { event: 'order:created' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 422, 400, 401, 500]);
    expect(ran).toEqual(['ship']);
  });

  test('does not prevent a delivery from being queued', async () => {
    const jobs: SealedDelivery[] = [];
    const receiver = createReceiver({
      secret: SECRET,
      store: memoryStore(),
      telemetry: openTelemetry(providers),
      queue: queueInto(jobs),
    }).on('order:paid', () => {});
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 200 });
    expect(jobs).toMatchObject([{ id: 'whl_1', traceparent: undefined }]);
    for (const job of jobs) {
      expect(await receiver.dispatch(job)).toMatchObject({ outcome: 'handled' });
    }
  });
});
