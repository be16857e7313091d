import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { WebhookError } from 'storefront-webhooks';
import { describe, expect, test } from 'vitest';
import { deliver, paidOrder } from '../support/deliver.js';
import { traced, withAsyncContext } from './collected.js';

withAsyncContext();

describe('a handler', () => {
  test('has a span inside the span of its delivery', async () => {
    const { receiver, span } = traced();
    receiver.on('order:*', () => {}, { name: 'ship' });
    await deliver(receiver, paidOrder());
    const { kind, attributes, status, parentSpanContext } = span('handle ship');
    expect({ kind, attributes, status }).toEqual({
      kind: SpanKind.INTERNAL,
      attributes: { 'storefront_webhooks.handler': 'ship', 'storefront_webhooks.attempt': 1 },
      status: { code: SpanStatusCode.UNSET },
    });
    expect(parentSpanContext?.spanId).toBe(span('process order:paid').spanContext().spanId);
  });

  test('has its own spans inside its span, across awaits and beside other handlers', async () => {
    const { receiver, span, tracerProvider } = traced();
    const tracer = tracerProvider.getTracer('a database');
    for (const name of ['ship', 'mail']) {
      const query = async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        tracer.startSpan(`query to ${name}`).end();
      };
      receiver.on('order:paid', query, { name });
    }
    await deliver(receiver, paidOrder());
    for (const name of ['ship', 'mail']) {
      const handler = span(`handle ${name}`);
      expect(span(`query to ${name}`).parentSpanContext?.spanId).toBe(handler.spanContext().spanId);
      expect(handler.parentSpanContext?.spanId).toBe(
        span('process order:paid').spanContext().spanId,
      );
    }
  });

  test('that failed has an error in its span, and the one beside it does not', async () => {
    const { receiver, span } = traced();
    receiver.on('order:paid', () => {}, { name: 'ship' });
    receiver.on('order:paid', () => Promise.reject(new RangeError('no')), { name: 'mail' });
    await deliver(receiver, paidOrder());
    expect(span('handle ship').status.code).toBe(SpanStatusCode.UNSET);
    const { status, attributes, events } = span('handle mail');
    expect({ status, events }).toEqual({ status: { code: SpanStatusCode.ERROR }, events: [] });
    expect(attributes['error.type']).toBe('RangeError');
  });

  test('that is skipped has no span, because another delivery has had its effect', async () => {
    const { receiver, spans } = traced();
    receiver.on('order:paid', () => {}, { name: 'order:paid', oncePer: (order) => order.id });
    await deliver(receiver, paidOrder(), { id: 'whl_1' });
    await deliver(receiver, paidOrder(), { id: 'whl_2' });
    expect(spans().map(({ name }) => name)).toEqual([
      'handle order:paid',
      'process order:paid',
      'process order:paid',
    ]);
  });
});

describe('the type of an error', () => {
  class OutOfStock extends Error {}
  class Unnamed extends Error {}
  Object.defineProperty(Unnamed, 'name', { value: 'with spaces' });
  const refuse = () => {
    throw new Error('no');
  };
  const hostile = new Proxy(new Error('no'), { get: refuse, getPrototypeOf: refuse });
  const dressed = Object.assign(new RangeError('no'), { constructor: { name: 'card_4111' } });

  test.each([
    ['its class', new OutOfStock('no'), 'OutOfStock'],
    ['the class, not the assigned name', Object.assign(new Error(), { name: 'ord_1' }), 'Error'],
    ['the class, not the claimed type', dressed, 'RangeError'],
    ['the class, if the code contains digits', withCode('E4111'), 'Error'],
    ['the code, if Node set it', withCode('ECONNREFUSED'), 'ECONNREFUSED'],
    ['the class, if the code may be anything', withCode('ord_1'), 'Error'],
    ['the code of this package', new WebhookError('lease_lost', 'no'), 'lease_lost'],
    ['_OTHER, if it has no valid name', new Unnamed('no'), '_OTHER'],
    ['_OTHER, if it is not an error', 'no', '_OTHER'],
    ['_OTHER, if reading it throws', hostile, '_OTHER'],
  ])('is %s', async (_, thrown, type) => {
    const { receiver, span } = traced();
    receiver.on('order:paid', () => {
      throw thrown;
    });
    await deliver(receiver, paidOrder());
    expect(span('handle order:paid').attributes['error.type']).toBe(type);
  });

  test('is one of at most a hundred', async () => {
    const { receiver, spans } = traced();
    receiver.on('order:paid', ({ id }) => {
      throw withCode(`E${id}`);
    });
    const letters = [...'ABCDEFGHIJK'];
    const ids = letters.flatMap((a) => letters.map((b) => `X${a}${b}`));
    await Promise.all(ids.map((id) => deliver(receiver, paidOrder(), { id })));
    const types = spans()
      .filter(({ name }) => name === 'handle order:paid')
      .map(({ attributes }) => attributes['error.type']);
    expect(types[0]).toBe('EXAA');
    expect(types.slice(100)).toEqual(Array(21).fill('_OTHER'));
  });
});

function withCode(code: string): Error {
  return Object.assign(new Error('no'), { code });
}
