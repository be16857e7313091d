import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { SealedDelivery } from 'storefront-webhooks';
import { openTelemetry } from 'storefront-webhooks/opentelemetry';
import { describe, expect, test } from 'vitest';
import { deliver, paidOrder } from '../support/deliver.js';
import { collecting, traced, withAsyncContext } from './collected.js';
import { queueInto, sealed } from './sealed.js';

withAsyncContext();

describe('through a queue', () => {
  test('the span of processing links to the span of sending', async () => {
    const jobs: SealedDelivery[] = [];
    const { receiver, span } = traced({ queue: queueInto(jobs) });
    receiver.on('order:paid', () => {});
    await deliver(receiver, paidOrder());
    const sent = span('send order:paid');
    expect(sent.kind).toBe(SpanKind.PRODUCER);
    expect(sent.attributes).toMatchObject({
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'storefront_webhooks.source': 'webhook',
      'storefront_webhooks.outcome': 'queued',
    });

    for (const job of jobs) await receiver.dispatch(job);
    const processed = span('process order:paid');
    expect(processed.kind).toBe(SpanKind.CONSUMER);
    expect(processed.attributes).toMatchObject({
      'storefront_webhooks.source': 'queue',
      'storefront_webhooks.outcome': 'handled',
    });
    const { traceId, spanId } = sent.spanContext();
    expect(processed.links).toEqual([
      { context: { traceId, spanId, traceFlags: 1, isRemote: true } },
    ]);
    expect(processed.parentSpanContext).toBeUndefined();
    expect(processed.spanContext().traceId).not.toBe(traceId);
  });

  test('a queue that is down is an error', async () => {
    const queue = { durable: true, enqueue: () => Promise.reject(new Error('down')) } as const;
    const { receiver, span } = traced({ queue });
    receiver.on('order:paid', () => {});
    await deliver(receiver, paidOrder());
    const { attributes, status } = span('send order:paid');
    expect(attributes['error.type']).toBe('unavailable');
    expect(status.code).toBe(SpanStatusCode.ERROR);
  });

  const TRACE = '0af7651916cd43dd8448eb211c80319c';
  const SPAN = 'b7ad6b7169203331';

  test.each([
    ['in the right format', `00-${TRACE}-${SPAN}-01`, 1],
    ['of another version', `01-${TRACE}-${SPAN}-01`, 0],
    ['in upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`, 0],
    ['with additional text', `00-${TRACE}-${SPAN}-01-00`, 0],
    ['with a line end', `00-${TRACE}-${SPAN}-01\n`, 0],
    ['of a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`, 0],
    ['of a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, 0],
    ['that is empty', '', 0],
  ])('a trace context %s is parsed strictly', async (_, traceparent, links) => {
    const { receiver, span } = traced();
    receiver.on('order:paid', () => {});
    await receiver.dispatch({ ...(await sealed()), traceparent });
    expect(span('process order:paid').links).toHaveLength(links);
  });

  test('the trace context belongs to the active span, and is absent without one', () => {
    const { tracerProvider } = collecting();
    const telemetry = openTelemetry();
    expect(telemetry.traceparent()).toBeUndefined();
    tracerProvider.getTracer('test').startActiveSpan('outer', (span) => {
      const { traceId, spanId } = span.spanContext();
      expect(telemetry.traceparent()).toBe(`00-${traceId}-${spanId}-01`);
    });
    trace.getTracer('no SDK').startActiveSpan('outer', () => {
      expect(telemetry.traceparent()).toBeUndefined();
    });
  });
});
