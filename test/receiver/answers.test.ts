import { createReceiver, memoryStore, type ReceiverOptions } from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

/** Outcome, seconds, key and code: see receipts.test.ts. */
const RECEIPT = /^v1\.[a-z]+\.\d{10}\.[\da-f]{64}\.[\da-f]{64}$/;

const quiet = { onRejected() {}, onError() {} };

function receiverWith(options: Partial<ReceiverOptions> = {}) {
  return createReceiver({ secret: SECRET, hooks: quiet, ...options });
}

/** One test for each row of the table of answers. */
describe('the answer is', () => {
  test('200 handled after the handlers have finished', async () => {
    const receiver = receiverWith().on('order:paid', () => {});
    expect(await deliver(receiver, paidOrder())).toEqual({
      status: 200,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'webhook-receipt': expect.stringMatching(RECEIPT),
      },
      body: expect.stringMatching(
        /^\{"message":"Handled\.","outcome":"handled","receipt":"v1\.handled\.[^"]*"\}$/,
      ),
      outcome: 'handled',
      ran: ['order:paid'],
    });
  });

  test('200 parked after onInvalid has accepted the delivery', async () => {
    const kept = vi.fn();
    const receiver = receiverWith().onInvalid(kept);
    expect(await deliver(receiver, paidOrder({ status: 0 }))).toMatchObject({
      status: 200,
      outcome: 'parked',
    });
    expect(kept).toHaveBeenCalledWith(
      expect.objectContaining({
        payload: paidOrder({ status: 0 }),
        issues: [{ path: 'status', message: 'is 0 (not paid), and paidStatuses are [100]' }],
      }),
    );
    const copy = await deliver(receiver, paidOrder({ status: 0 }));
    expect(copy).toMatchObject({ status: 200, outcome: 'parked', ran: [] });
    expect(JSON.parse(copy.body).receipt).toMatch(/^v1\.parked\./);
    expect(kept).toHaveBeenCalledOnce();
  });

  test('200 duplicate for a delivery that is done', async () => {
    const handler = vi.fn();
    const receiver = receiverWith().on('order:paid', handler);
    await deliver(receiver, paidOrder());
    expect(await deliver(receiver, paidOrder())).toMatchObject({
      status: 200,
      outcome: 'duplicate',
      ran: [],
    });
    expect(handler).toHaveBeenCalledOnce();
  });

  test('200 ignored for an event without a handler', async () => {
    const receiver = receiverWith().on('order:paid', () => {});
    expect(await deliver(receiver, paidOrder(), { event: 'order:created' })).toMatchObject({
      status: 200,
      outcome: 'ignored',
    });
  });

  test('200 ignored for an unknown event', async () => {
    const handler = vi.fn();
    const receiver = receiverWith().on('*', handler);
    expect(await deliver(receiver, {}, { event: 'order:vanished' })).toMatchObject({
      outcome: 'ignored',
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test('200 queued after the queue has stored the delivery, with or without handlers', async () => {
    const enqueue = vi.fn(async () => ({ id: 'job_1' }));
    const receiver = receiverWith({ queue: { durable: true, enqueue } });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 200, outcome: 'queued' });
    expect(enqueue).toHaveBeenCalledOnce();
  });

  test.each([undefined, ''])('400 for the event header %j', async (event) => {
    const { status, outcome } = await deliver(receiverWith(), paidOrder(), {
      headers: { 'x-service-event': event ?? '' },
    });
    expect({ status, outcome }).toEqual({ status: 400, outcome: 'rejected' });
  });

  test('400 for a repeated event header', async () => {
    const headers = { 'x-service-event': 'order:paid, order:created' };
    expect(await deliver(receiverWith(), paidOrder(), { headers })).toMatchObject({ status: 400 });
  });

  test('400 for a body that is not JSON', async () => {
    expect(await deliver(receiverWith(), '{"id":')).toMatchObject({
      status: 400,
      outcome: 'rejected',
    });
  });

  test('401 for a wrong and for a missing signature, with the same text', async () => {
    const handler = vi.fn();
    const receiver = receiverWith().on('*', handler);
    const wrong = await deliver(receiver, paidOrder(), { secret: 'another secret' });
    const missing = await deliver(receiver, paidOrder(), {
      headers: { 'x-service-signature': '' },
    });
    expect(wrong).toMatchObject({ status: 401, outcome: 'rejected' });
    expect(missing).toEqual(wrong);
    expect(handler).not.toHaveBeenCalled();
  });

  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', ''])(
    '405 with Allow for the method %j',
    async (method) => {
      const body = vi.fn();
      const reply = await receiverWith().receive({ method, headers: {}, body });
      expect(reply).toMatchObject({ status: 405, outcome: 'rejected', headers: { allow: 'POST' } });
      expect(body).not.toHaveBeenCalled();
    },
  );

  test('408 for a body that does not arrive in time', async () => {
    const reply = await receiverWith({ bodyTimeout: 5 }).receive({
      method: 'POST',
      headers: { 'x-service-event': 'order:paid', 'x-service-signature': '0'.repeat(128) },
      body: () => new Promise(() => {}),
    });
    expect(reply).toMatchObject({ status: 408, outcome: 'rejected' });
  });

  test('413 for a body over the limit, and 200 just below', async () => {
    const receiver = receiverWith({ limit: 200 }).on('order:paid', () => {});
    const sized = (bytes: number) => {
      const filler = bytes - JSON.stringify(paidOrder({ filler: '' })).length;
      return paidOrder({ filler: 'x'.repeat(filler) });
    };
    expect(await deliver(receiver, sized(200))).toMatchObject({ status: 200 });
    expect(await deliver(receiver, sized(201))).toMatchObject({ status: 413, outcome: 'rejected' });
  });

  test('413 for a declared length over the limit, without reading the body', async () => {
    const body = vi.fn();
    const headers = {
      'x-service-event': 'order:paid',
      'x-service-signature': '0'.repeat(128),
      'content-length': '201',
    };
    expect(
      await receiverWith({ limit: 200 }).receive({ method: 'POST', headers, body }),
    ).toMatchObject({
      status: 413,
    });
    expect(body).not.toHaveBeenCalled();
  });

  test('415 for a content encoding other than identity', async () => {
    const receiver = receiverWith().on('order:paid', () => {});
    const encoded = (encoding: string) =>
      deliver(receiver, paidOrder(), { headers: { 'content-encoding': encoding } });
    expect(await encoded('gzip')).toMatchObject({ status: 415, outcome: 'rejected' });
    expect(await encoded('Identity')).toMatchObject({ status: 200 });
  });

  test('422 with the fields for an invalid payload without onInvalid', async () => {
    const onRejected = vi.fn();
    const receiver = receiverWith({ hooks: { onRejected } }).on('order:paid', () => {});
    const reply = await deliver(receiver, paidOrder({ email: 7, id: undefined }));
    expect(reply).toMatchObject({ status: 422, outcome: 'rejected' });
    expect(JSON.parse(reply.body)).toEqual({
      message: 'The payload does not fit its event.',
      outcome: 'rejected',
      errors: ['id is not as expected', 'email is not as expected'],
      receipt: expect.stringMatching(RECEIPT),
    });
    expect(onRejected).toHaveBeenCalledWith({
      status: 422,
      code: 'payload_invalid',
      message: 'The payload does not fit its event.',
      verified: true,
      id: 'whl_1',
      event: 'order:paid',
      issues: [
        { path: 'id', message: 'expected string' },
        { path: 'email', message: 'expected string' },
      ],
    });
  });

  test('422 for a payload that contradicts its event', async () => {
    const receiver = receiverWith().on('order:paid', () => {});
    expect(await deliver(receiver, paidOrder({ status: 56 }))).toMatchObject({ status: 422 });
  });

  test('500 failed for a handler that throws, without its error', async () => {
    const receiver = receiverWith().on('order:paid', () => {
      throw new Error('the key is AAAA-BBBB');
    });
    const reply = await deliver(receiver, paidOrder());
    expect(reply).toMatchObject({ status: 500, outcome: 'failed' });
    expect(reply.body).not.toContain('AAAA');
  });

  test('500 failed for a handler that times out', async () => {
    const receiver = receiverWith({ timeout: 5 }).on('order:paid', () => new Promise(() => {}));
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
  });

  test('503 busy with Retry-After while another process handles the delivery', async () => {
    skipWaits();
    const store = memoryStore();
    let finish = () => {};
    const running = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const elsewhere = receiverWith({ store }).on('order:paid', () => running);
    const here = receiverWith({ store }).on('order:paid', () => {});
    const first = deliver(elsewhere, paidOrder());
    const reply = await deliver(here, paidOrder());
    expect(reply).toMatchObject({ status: 503, outcome: 'busy' });
    expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    finish();
    expect(await first).toMatchObject({ status: 200 });
  });

  test('503 unavailable with Retry-After while the store is down', async () => {
    const store = Object.assign(memoryStore(), {
      claim: async () => {
        throw new Error('connection refused');
      },
    });
    const handler = vi.fn();
    const reply = await deliver(receiverWith({ store }).on('order:paid', handler), paidOrder());
    expect(reply).toMatchObject({
      status: 503,
      outcome: 'unavailable',
      headers: { 'retry-after': '1' },
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test('500 failed if a function of the program has returned what no answer can be made of', async () => {
    const issues = [{ path: ['status'], message: 'differs' }];
    const receiver = receiverWith({
      // @ts-expect-error: A program without types may return the issues of its schema library.
      confirm: async () => ({ state: 'disagreed', issues }),
    }).on('order:paid', () => {});
    expect(await deliver(receiver, paidOrder())).toMatchObject({
      status: 500,
      outcome: 'failed',
      body: expect.stringMatching(/"receipt":"v1\.failed\./),
    });
  });

  test('503 unavailable if the queue cannot store the delivery', async () => {
    const enqueue = async () => {
      throw new Error('connection refused');
    };
    const receiver = receiverWith({ queue: { durable: true, enqueue } });
    expect(await deliver(receiver, paidOrder())).toMatchObject({
      status: 503,
      outcome: 'unavailable',
    });
  });

  test('503 unavailable while the receiver closes', async () => {
    const receiver = receiverWith().on('order:paid', () => {});
    await receiver.close();
    expect(await deliver(receiver, paidOrder())).toMatchObject({
      status: 503,
      outcome: 'unavailable',
    });
  });
});
