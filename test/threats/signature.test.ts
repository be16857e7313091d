import { createHmac } from 'node:crypto';
import express from 'express';
import { createReceiver, type Secret, verifySignature } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { replay, sign } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { order, secret, signed, watched } from './watched.js';

describe('verification', () => {
  test.each([
    ['a real delivery', 'order:paid'],
    ['a signed ""', 'hostile/empty-body'],
    ['a signed "{}"', 'hostile/empty-object'],
    ['a signed "[object Object]"', 'hostile/object-object'],
  ])(
    'threat 6: behind a parser that has consumed the body, %s is not handled',
    async (_, fixture) => {
      const { receiver, handler, claim, onError } = watched();
      const app = express()
        .use(express.json({ strict: false }), express.text({ type: () => true }))
        .post('/webhooks', toExpress(receiver));
      const { status } = await replay(app, fixture, { secret });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(handler).not.toHaveBeenCalled();
      expect(claim).not.toHaveBeenCalled();
      if (fixture === 'order:paid') {
        expect(onError).toHaveBeenCalledExactlyOnceWith(
          expect.objectContaining({
            code: 'body_consumed',
            message: expect.stringContaining('above app.use(express.json())'),
          }),
          {},
        );
      }
    },
  );

  test('threat 6: a parsed body is an error of the program, with any signature', async () => {
    const { receiver, handler, claim, onError } = watched();
    for (const text of ['', '{}', '[object Object]']) {
      const request = { ...signed(text), body: { consumed: 'Move the receiver up.' } };
      expect(await receiver.receive(request)).toMatchObject({ status: 500, outcome: 'failed' });
    }
    expect(onError).toHaveBeenCalledTimes(3);
    expect(onError).toHaveBeenCalledWith(
      expect.objectContaining({
        code: 'body_consumed',
        message: expect.stringContaining('Move the receiver up.'),
      }),
      {},
    );
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });

  test.each([
    ['no method', { method: undefined }, 'method is undefined'],
    ['no headers', { headers: undefined }, 'headers is undefined'],
    ['invalid headers', { headers: 'a: b' }, 'headers is string'],
  ])(
    'a request with %s is an error of the program, which describes a request',
    async (_, part, said) => {
      const { receiver, handler, onError } = watched();
      const request = Object.assign(signed('{}'), part);
      expect(await receiver.receive(request)).toMatchObject({ status: 500, outcome: 'failed' });
      await expect(receiver.verify(request)).rejects.toThrow(
        `{ method, url, headers, body }, but its ${said}`,
      );
      expect(onError).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ code: 'request_invalid' }),
        {},
      );
      expect(handler).not.toHaveBeenCalled();
    },
  );

  const weak: readonly (readonly [string, Secret | readonly Secret[] | undefined])[] = [
    ['an undefined', undefined],
    ['an empty', ''],
    ['a blank', ' \t\n'],
    ['a NUL-only', '\0\0'],
    ['an empty binary', new Uint8Array(0)],
    ['a NUL-only binary', new Uint8Array(64)],
    ['a missing one of several', []],
    ['an empty one of several', [secret, '']],
    ['a carelessly pasted', `${secret}\n`],
  ];

  test.each(weak)('threat 7: %s secret is rejected when the receiver is created', (_, bad) => {
    expect(() => createReceiver({ secret: bad })).toThrow(
      expect.objectContaining({ code: 'secret_invalid' }),
    );
  });

  test.each(['', '\0'])(
    'threat 7: a secret function that returns %j accepts no forgery',
    async (bad) => {
      const found = { secret: bad, scope: 'shop' };
      const { receiver, handler, claim, onError } = watched({ secret: () => found });
      const forged = createHmac('sha512', bad).update(order()).digest('hex');
      const request = signed(order(), { 'x-service-signature': forged });
      expect(await receiver.receive(request)).toMatchObject({ status: 500, outcome: 'failed' });
      expect(onError).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ code: 'secret_invalid' }),
        {},
      );
      expect(handler).not.toHaveBeenCalled();
      expect(claim).not.toHaveBeenCalled();
    },
  );

  test('threat 7: a secret function that does not know the shop leads to the same answer as a wrong signature', async () => {
    const { receiver, handler } = watched({ secret: () => null });
    const reply = await receiver.receive(signed(order()));
    expect(reply).toMatchObject({ status: 401, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
  });

  test.each(['order:paid/escaped-slashes', 'order:paid/trailing-zero', 'order:paid/crlf'])(
    'threat 8: bytes that would change if they were serialised again are verified unchanged: %s',
    async (name) => {
      const { receiver, handler } = watched();
      const { status, outcome, fixture } = await replay(receiver, name);
      expect({ status, outcome }).toEqual({ status: 200, outcome: 'handled' });
      expect(Buffer.from(fixture.body)).not.toEqual(
        Buffer.from(JSON.stringify(parsed(fixture.body))),
      );
      expect(Buffer.from(handler.mock.lastCall?.[0].rawBody ?? [])).toEqual(
        Buffer.from(fixture.body),
      );
    },
  );

  test.each([
    ['another spacing', `${order()} `, order()],
    ['a byte order mark', `\uFEFF${order()}`, order()],
    ['no byte order mark', order(), `\uFEFF${order()}`],
    ['bad UTF-8', Buffer.from(order({ id: '\xFF' }), 'latin1'), order({ id: '\uFFFD' })],
  ])('threat 8: with %s, the signature of the same text does not match', async (_, sent, meant) => {
    const { receiver, handler, claim } = watched();
    const request = signed(sent, { 'x-service-signature': sign(meant, secret) });
    expect(await receiver.receive(request)).toMatchObject({ status: 401, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });

  test.each(['hostile/byte-order-mark', 'hostile/broken-utf8'])(
    'threat 8: signed bytes that are not JSON in UTF-8 are rejected, not repaired: %s',
    async (fixture) => {
      const { receiver, handler, claim, onRejected } = watched();
      const { status, outcome } = await replay(receiver, fixture);
      expect({ status, outcome }).toEqual({ status: 400, outcome: 'rejected' });
      expect(onRejected).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ code: 'body_not_json', verified: true }),
      );
      expect(handler).not.toHaveBeenCalled();
      expect(claim).not.toHaveBeenCalled();
    },
  );

  const right = sign(order(), secret);
  test.each([
    ['none', ''],
    ['one digit', right.slice(0, 1)],
    ['a missing byte', right.slice(0, -2)],
    ['a missing digit', right.slice(0, -1)],
    ['an additional byte', `${right}00`],
    ['junk at its end', `${right.slice(0, -2)}zz`],
    ['junk for a zero', right.replace('0', 'g')],
    ['junk after it', `${right}zz`],
    ['a line end after it', `${right}\n`],
    ['a space before it', ` ${right}`],
    ['a prefix', `sha512=${right}`],
    [
      'digits that fold to ASCII',
      right.replace(/\d/g, (digit) => String.fromCharCode(0x130 + Number(digit))),
    ],
    ['a wrong last digit', right.slice(0, -1) + (right.endsWith('0') ? '1' : '0')],
    ['base64', Buffer.from(right, 'hex').toString('base64')],
    ['a megabyte', '0'.repeat(1_000_000)],
  ])('threat 9: a signature with %s is rejected, and nothing is thrown', async (_, signature) => {
    const { receiver, handler, claim, onError } = watched();
    expect(verifySignature(order(), signature, secret)).toBe(false);
    const request = signed(order(), { 'x-service-signature': signature });
    expect(await receiver.receive(request)).toMatchObject({ status: 401, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
  });

  test('threat 9: the case of the digits does not matter', async () => {
    const { receiver } = watched();
    const request = signed(order(), { 'x-service-signature': right.toUpperCase() });
    expect(await receiver.receive(request)).toMatchObject({ status: 200, outcome: 'handled' });
  });

  test.each([
    ['two signatures', 'hostile/two-signatures', 401],
    ['two events', 'hostile/two-events', 400],
    ['two events in one header', 'hostile/joined-events', 400],
  ])('threat 10: %s are rejected', async (_, fixture, expected) => {
    const { receiver, handler, claim } = watched();
    const { status, outcome } = await replay(receiver, fixture);
    expect({ status, outcome }).toEqual({ status: expected, outcome: 'rejected' });
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });

  test.each([
    ['x-service-signature', 401],
    ['x-service-event', 400],
  ])('threat 10: a repeated %s is rejected, even if both are right', async (name, expected) => {
    const { receiver, handler, claim } = watched();
    const { headers, ...request } = signed(order());
    const value = headers[name] ?? '';
    const inCapitals = { ...headers, [name.toUpperCase()]: value };
    const asList = { ...headers, [name]: [value, value] };
    const asFetch = new Headers(headers);
    asFetch.append(name, value);
    for (const twice of [inCapitals, asList, asFetch]) {
      const reply = await receiver.receive({ ...request, headers: twice });
      expect(reply).toMatchObject({ status: expected, outcome: 'rejected' });
    }
    expect(handler).not.toHaveBeenCalled();
    expect(claim).not.toHaveBeenCalled();
  });
});

function parsed(body: Uint8Array): unknown {
  return JSON.parse(Buffer.from(body).toString());
}
