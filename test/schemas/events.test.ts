import { runInNewContext } from 'node:vm';
import {
  createReceiver,
  type ErrorInfo,
  type EventSchemas,
  eventSchemas,
  memoryStore,
  orderSchema,
  productSchema,
  type RejectionInfo,
  type StandardSchema,
} from 'storefront-webhooks';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { skipWaits } from '../support/clock.js';

// A schema may return a promise of another realm, for example in a test runner.
const promiseOfAnotherRealm = runInNewContext('(result) => Promise.resolve(result)');

describe('the events', () => {
  test('are the events of the specification', () => {
    expect(Object.keys(eventSchemas)).toEqual([
      'feedback:created',
      'feedback:updated',
      'order:created',
      'order:paid',
      'order:updated',
      'product:out_of_stock',
      'query:created',
      'query:replied',
      'query:updated',
    ]);
  });

  test('of orders have an order as payload', () => {
    expect(eventSchemas['order:created']).toBe(orderSchema);
    expect(eventSchemas['order:paid']).toBe(orderSchema);
    expect(eventSchemas['order:updated']).toBe(orderSchema);
  });

  test.each([
    'feedback:created',
    'feedback:updated',
    'product:out_of_stock',
    'query:created',
    'query:replied',
    'query:updated',
  ] as const)('named %s accept any object unchanged', async (name) => {
    const payload = JSON.parse('{"a":10.0,"__proto__":{"polluted":true}}');
    const { validate } = eventSchemas[name]['~standard'];
    const result = await validate(payload);
    expect('value' in result && result.value).toBe(payload);
    for (const odd of [null, [], 'text', 7, undefined]) {
      expect(await validate(odd)).toMatchObject({ issues: [{ message: 'expected object' }] });
    }
  });
});

describe('a schema of another library', () => {
  const query = loadFixture('query:replied');
  const record = JSON.parse(new TextDecoder().decode(query.body));

  /** A schema with only the interface that valibot and arktype have. */
  function foreign<Output>(
    validate: StandardSchema<unknown, Output>['~standard']['validate'],
  ): StandardSchema<unknown, Output> {
    return { '~standard': { version: 1, vendor: 'foreign', validate } };
  }

  /** Replays one saved query to a receiver with this schema for its event. */
  async function send(schema: StandardSchema, fixture = query) {
    const payloads: unknown[] = [];
    const errors: [unknown, ErrorInfo][] = [];
    const rejections: RejectionInfo[] = [];
    const events: EventSchemas = { [fixture.event]: schema };
    const receiver = createReceiver({
      secret: 'a secret for tests',
      store: memoryStore(),
      events,
      hooks: {
        onError: (error, info) => errors.push([error, info]),
        onRejected: (info) => rejections.push(info),
      },
    }).on('*', ({ payload }) => void payloads.push(payload));
    const { status, outcome, body } = await replay(receiver, fixture);
    return { status, outcome, body, payloads, errors, rejections };
  }

  test('passes its output to the handler', async () => {
    const schema = z.object({ id: z.string().transform((id) => id.toUpperCase()) });
    const { outcome, payloads } = await send(schema);
    expect(outcome).toBe('handled');
    expect(payloads).toEqual([{ id: record.id.toUpperCase() }]);
  });

  test('gets the payload as it was sent', async () => {
    const seen: unknown[] = [];
    await send(foreign((value) => ({ value: seen.push(value) })));
    expect(seen).toEqual([record]);
  });

  test('may be asynchronous', async () => {
    const schema = z.object({ id: z.string() }).refine(async () => true);
    const { outcome, payloads } = await send(schema);
    expect(outcome).toBe('handled');
    expect(payloads).toEqual([{ id: record.id }]);
  });

  test.each([
    ['at once', (result: { issues: { message: string }[] }) => result],
    ['after a delay', async (result: { issues: { message: string }[] }) => result],
    ['with a promise of another realm', promiseOfAnotherRealm],
  ])('may reject a payload %s, and the 422 does not repeat its message', async (_, when) => {
    const issues = [
      { message: `"${record.id}" is not mine`, path: ['messages', { key: 0 }, 'text'] },
      { message: 'nothing fits' },
    ];
    const { status, body, payloads, errors, rejections } = await send(
      foreign(() => when({ issues })),
    );
    expect(status).toBe(422);
    expect(JSON.parse(body)).toMatchObject({
      outcome: 'rejected',
      errors: ['payload is not as expected'],
    });
    expect(body).not.toContain(record.id);
    expect(rejections).toMatchObject([
      {
        code: 'payload_invalid',
        verified: true,
        event: 'query:replied',
        issues: [
          { path: 'messages.0.text', message: `"${record.id}" is not mine` },
          { path: '', message: 'nothing fits' },
        ],
      },
    ]);
    expect([...payloads, ...errors]).toEqual([]);
  });

  test.each([
    [
      'throws',
      (error: Error) => {
        throw error;
      },
    ],
    ['rejects', (error: Error) => Promise.reject(error)],
  ])('that %s fails the delivery, and onError gets the error', async (_, fail) => {
    const error = new Error(`cannot read ${record.id}`);
    const { status, outcome, body, payloads, errors } = await send(foreign(() => fail(error)));
    expect({ status, outcome }).toEqual({ status: 500, outcome: 'failed' });
    expect(errors.map(([thrown]) => thrown)).toEqual([error]);
    expect(payloads).toEqual([]);
    expect(body).not.toContain(record.id);
  });

  test('that hangs fails the delivery within 10 s', async () => {
    skipWaits();
    const startedAt = performance.now();
    const { status, outcome, errors } = await send(foreign(() => new Promise(() => {})));
    expect({ status, outcome }).toEqual({ status: 500, outcome: 'failed' });
    expect(performance.now() - startedAt).toBeLessThanOrEqual(10_000);
    expect(errors.map(([thrown]) => thrown)).toMatchObject([{ code: 'timed_out' }]);
  });

  test('may be a function, as in arktype', async () => {
    const schema = Object.assign(
      () => {},
      foreign((value) => ({ value })),
    );
    expect(await send(schema)).toMatchObject({ outcome: 'handled', payloads: [record] });
  });

  test('may replace one of the specification, and the signed event is still checked', async () => {
    const schema = foreign((value) => ({ value: { was: value } }));
    const paid = loadFixture('order:paid');
    const order = JSON.parse(new TextDecoder().decode(paid.body));
    expect(await send(schema, paid)).toMatchObject({ payloads: [{ was: order }] });
    expect(await send(schema, loadFixture('hostile/refunded-as-paid'))).toMatchObject({
      status: 422,
      payloads: [],
    });
  });

  test('may add an event that the specification does not name', async () => {
    const unknown = loadFixture('unknown');
    expect(Object.keys(eventSchemas)).not.toContain(unknown.event);
    expect(
      await send(
        foreign((value) => ({ value })),
        unknown,
      ),
    ).toMatchObject({
      outcome: 'handled',
    });
  });

  test('that is not one is rejected when the receiver is created', () => {
    for (const odd of [undefined, {}, { '~standard': {} }, (value: unknown) => value]) {
      const options = { secret: 's', store: memoryStore(), events: { 'query:replied': odd } };
      expect(() => Reflect.apply(createReceiver, undefined, [options])).toThrow(
        expect.objectContaining({
          code: 'option_invalid',
          message: expect.stringContaining('events["query:replied"] has to be a Standard Schema'),
        }),
      );
    }
  });
});

test('a schema of this package can be used, and its invalid fields are issues', async () => {
  const told: unknown[] = [];
  const receiver = createReceiver({
    secret: 'a secret for tests',
    store: memoryStore(),
    events: { 'product:out_of_stock': productSchema },
  }).on('product:out_of_stock', ({ payload, issues }) => void told.push(payload.stock, issues));
  await replay(receiver, 'product:out_of_stock/infinite-stock');
  expect(told).toEqual(['∞', []]);
});
