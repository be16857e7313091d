import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { WebhookRequest } from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { traced, withAsyncContext } from './collected.js';
import { sealed } from './sealed.js';

withAsyncContext();

const UNSET = { code: SpanStatusCode.UNSET };

describe('a delivery', () => {
  test('has one span that follows the conventions for messaging', async () => {
    const { receiver, spans, span } = traced({ scope: 'my shop' });
    receiver.on('order:paid', () => {});
    const payload = paidOrder();
    await deliver(receiver, payload);
    expect(spans().map(({ name }) => name)).toEqual(['handle order:paid', 'process order:paid']);
    const { kind, attributes, status, links, events, instrumentationScope } =
      span('process order:paid');
    expect({ kind, status, links, events }).toEqual({
      kind: SpanKind.CONSUMER,
      status: UNSET,
      links: [],
      events: [],
    });
    expect(attributes).toEqual({
      'messaging.system': 'storefront_webhooks',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'order:paid',
      'messaging.message.id': 'whl_1',
      'messaging.message.body.size': JSON.stringify(payload).length,
      'storefront_webhooks.scope': 'my shop',
      'storefront_webhooks.source': 'webhook',
      'storefront_webhooks.outcome': 'handled',
      'storefront_webhooks.attempt': 1,
    });
    expect(instrumentationScope).toMatchObject({
      name: 'storefront-webhooks',
      schemaUrl: 'https://opentelemetry.io/schemas/1.44.0',
    });
  });

  test('has a span from the arrival of its request to the end of its handlers', async () => {
    const { receiver, span } = traced();
    receiver.on('order:paid', () => sleep(40));
    const body = new TextEncoder().encode(JSON.stringify(paidOrder()));
    const request: WebhookRequest = {
      method: 'POST',
      headers: { 'x-service-event': 'order:paid', 'x-service-signature': sign(body, SECRET) },
      body: async () => {
        await sleep(40);
        return body;
      },
    };
    const before = Date.now();
    await receiver.receive(request);
    const after = Date.now();
    const { startTime, duration } = span('process order:paid');
    expect(milliseconds(startTime)).toBeGreaterThanOrEqual(before - 1);
    // Timers may fire a little early.
    expect(milliseconds(duration)).toBeGreaterThanOrEqual(75);
    expect(milliseconds(startTime) + milliseconds(duration)).toBeLessThanOrEqual(after + 1);
  });

  test("has a span inside the active one, such as the server's", async () => {
    const { receiver, span, tracerProvider } = traced();
    receiver.on('order:paid', () => {});
    await tracerProvider.getTracer('a server').startActiveSpan('POST /webhooks', async (server) => {
      await deliver(receiver, paidOrder());
      server.end();
    });
    const { spanId } = span('POST /webhooks').spanContext();
    expect(span('process order:paid').parentSpanContext?.spanId).toBe(spanId);
  });

  test('with an unknown event has a span without its name', async () => {
    const { receiver, span } = traced();
    await deliver(receiver, { id: 'x' }, { event: `a\u202e${'b'.repeat(200)}` });
    const { attributes } = span('process _OTHER');
    expect(attributes).toMatchObject({
      'messaging.destination.name': '_OTHER',
      'storefront_webhooks.event': `a\\u{202e}${'b'.repeat(98)}…`,
      'storefront_webhooks.outcome': 'ignored',
    });
    expect(attributes).not.toHaveProperty(['storefront_webhooks.scope']);
  });

  test('has an escaped and shortened id, because the id is not signed', async () => {
    const { receiver, span } = traced();
    await deliver(receiver, paidOrder(), { id: `a\u202e${'b'.repeat(200)}` });
    expect(span('process order:paid').attributes['messaging.message.id']).toBe(
      `a\\u{202e}${'b'.repeat(98)}…`,
    );
  });
});

describe('a span has the outcome', () => {
  test('of a duplicate, which runs no handler', async () => {
    const { receiver, spans } = traced();
    receiver.on('order:paid', () => {});
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder());
    const [, first, second, ...more] = spans();
    expect(first?.attributes['storefront_webhooks.outcome']).toBe('handled');
    expect(second?.attributes['storefront_webhooks.outcome']).toBe('duplicate');
    expect(second?.status).toEqual(UNSET);
    expect(more).toEqual([]);
  });

  test('of a failure, with the number of the attempt', async () => {
    const { receiver, spans } = traced();
    receiver.on('order:paid', () => {
      throw new RangeError('no');
    });
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder());
    const last = spans().at(-1);
    expect(last?.attributes).toMatchObject({
      'storefront_webhooks.outcome': 'failed',
      'storefront_webhooks.attempt': 2,
      'error.type': 'failed',
    });
    expect(last?.status).toEqual({
      code: SpanStatusCode.ERROR,
      message: 'A handler threw or ran out of time.',
    });
    expect(last?.events).toEqual([]);
  });

  test('of an error that should never be thrown', async () => {
    const { telemetry, span } = traced();
    const about = {
      id: 'whl_1',
      event: 'order:paid',
      kind: 'known',
      scope: '',
      source: 'webhook',
      bytes: 1,
      action: 'process',
      traceparent: undefined,
      startedAt: performance.now(),
    } as const;
    await telemetry.delivery(about, () => Promise.reject(new RangeError('no')));
    const { attributes, status } = span('process order:paid');
    expect(attributes).toMatchObject({
      'storefront_webhooks.outcome': 'failed',
      'error.type': 'RangeError',
    });
    expect(status).toEqual({
      code: SpanStatusCode.ERROR,
      message: 'The receiver could not process the delivery.',
    });
  });

  test('of a delivery while the store is down', async () => {
    const store = durableStore(() => ({ claim: () => Promise.reject(new Error('refused')) }));
    const { receiver, span } = traced({ store });
    receiver.on('order:paid', () => {});
    await deliver(receiver, paidOrder());
    const { attributes, status } = span('process order:paid');
    expect(attributes).toMatchObject({
      'storefront_webhooks.outcome': 'unavailable',
      'error.type': 'unavailable',
    });
    expect(status.code).toBe(SpanStatusCode.ERROR);
  });

  test.each([
    ['has an invalid payload', paidOrder({ status: 0 }), 'payload_invalid', 'order:paid'],
    ['is not JSON', '{', 'body_not_json', 'order:paid'],
  ])('of a genuine delivery that %s', async (_, payload, code, event) => {
    const { receiver, span } = traced();
    await deliver(receiver, payload);
    const { attributes, status } = span('process _OTHER');
    expect(attributes).toMatchObject({
      'messaging.message.id': 'whl_1',
      'storefront_webhooks.event': event,
      'storefront_webhooks.outcome': 'rejected',
      'storefront_webhooks.rejection.code': code,
      'error.type': code,
    });
    expect(status).toEqual({ code: SpanStatusCode.ERROR, message: expect.stringMatching(/^The /) });
  });

  test('only if the request is genuine: a flood of others makes no spans', async () => {
    const { receiver, spans } = traced();
    await deliver(receiver, paidOrder(), { secret: 'another secret' });
    await receiver.receive({ method: 'GET', headers: {}, body: new Uint8Array() });
    expect(spans()).toEqual([]);
  });

  test('of a delivery that onInvalid or the store has parked', async () => {
    const { receiver, span, spans } = traced();
    receiver.onInvalid(() => {});
    await deliver(receiver, paidOrder({ status: 0 }));
    const { attributes, status } = span('process _OTHER');
    expect([attributes['storefront_webhooks.outcome'], status]).toEqual(['parked', UNSET]);

    const durable = traced({ store: durableStore() });
    durable.receiver.on('order:paid', () => {
      throw new Error('no');
    });
    await durable.receiver.dispatch(await sealed(), { lastAttempt: true });
    const [, dead] = durable.spans();
    expect(dead?.attributes['storefront_webhooks.outcome']).toBe('parked');
    expect(spans()).toHaveLength(2);
  });
});

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function milliseconds([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1000 + nanoseconds / 1e6;
}
