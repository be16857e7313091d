import { createReceiver, memoryStore, type StandardSchema } from 'storefront-webhooks';
import { replay, shippedFixtures, sign } from 'storefront-webhooks/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { order, paidOrder, secret, signed, watched } from './watched.js';

const log = vi.spyOn(console, 'error');

beforeEach(() => {
  log.mockReset().mockImplementation(() => {});
});

afterEach(() => {
  expect(log.mock.calls.filter(([line]) => String(line).includes('a hook threw'))).toEqual([]);
});

describe('the contents of an answer', () => {
  test('threat 20: missing, malformed and wrong signatures get the same answer', async () => {
    const { receiver, handler } = watched({ secret: [secret, 'an older secret'] });
    const given = ['', 'abc', '0'.repeat(128), sign(order(), 'another secret')];
    const replies = await Promise.all(
      given.map((signature) =>
        receiver.receive(signed(order(), { 'x-service-signature': signature })),
      ),
    );
    expect(replies[0]).toMatchObject({ status: 401, outcome: 'rejected' });
    for (const reply of replies) expect(reply).toEqual(replies[0]);
    expect(handler).not.toHaveBeenCalled();
  });

  test('threat 20: no answer contains the signature, the secret, the payload or the error', async () => {
    const { receiver, handler } = watched();
    handler.mockImplementation(({ payload }) => {
      throw new Error(`${secret} ${JSON.stringify(payload)}`);
    });
    for (const name of shippedFixtures()) {
      if (name === 'hostile/deep') continue;
      const { fixture, body, headers } = await replay(receiver, name);
      const answer = body + JSON.stringify(headers);
      expect(answer).not.toContain(secret);
      expect(answer).not.toContain(sign(fixture.body, secret));
      expect(answer).not.toMatch(/buyer@|example\.com|ord_|whl_|Error|\.[jt]s/);
    }
    expect(handler).toHaveBeenCalled();
  });

  test('threat 20: the error of a handler goes to the hook', async () => {
    const { receiver, handler, onError } = watched();
    const error = new Error('the mail server is down');
    handler.mockRejectedValue(error);
    const { status, body } = await replay(receiver, 'order:paid');
    expect(status).toBe(500);
    expect(body).not.toContain('mail');
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      error,
      expect.objectContaining({ event: 'order:paid', handler: '*' }),
    );
  });

  test('threat 20: the message of a schema that quotes the payload is not repeated', async () => {
    const quoting: StandardSchema<unknown, never> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) => ({
          issues: [{ message: `got ${JSON.stringify(value)}`, path: [`${paidOrder.email}`] }],
        }),
      },
    };
    const onRejected = vi.fn();
    const events = { 'order:updated': quoting };
    const receiver = createReceiver({
      secret,
      store: memoryStore(),
      events,
      hooks: { onRejected },
    });
    const { status, outcome, fixture, body } = await replay(receiver, 'order:updated');
    expect({ status, outcome }).toEqual({ status: 422, outcome: 'rejected' });
    expect(body).not.toMatch(/got|@|ord_/);
    expect(Buffer.from(fixture.body).toString()).toMatch(/@.*ord_|ord_.*@/);
    expect(onRejected).toHaveBeenCalledOnce();
  });
});

class Unreadable extends Error {
  override get message(): string {
    throw new Error('not even this');
  }
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const thrown: readonly (readonly [string, unknown])[] = [
  ['a string', 'text'],
  ['undefined', undefined],
  ['null', null],
  ['a symbol', Symbol('odd')],
  ['a frozen object', Object.freeze({ message: 'frozen' })],
  ['an object without a prototype', Object.create(null)],
  ['an error whose message throws', new Unreadable()],
  ['an error whose message is a symbol', Object.assign(new Error(), { message: Symbol('odd') })],
  ['a revoked proxy', revoked()],
];

describe('thrown and logged values', () => {
  test.each(thrown)('threat 21: a handler may throw %s', async (_, value) => {
    // No mocks here: they inspect thrown values.
    let attempts = 0;
    const told: unknown[] = [];
    const hooks = { onError: (error: unknown) => told.push(error) };
    const receiver = createReceiver({ secret, store: memoryStore(), hooks }).on('*', () => {
      attempts++;
      if (attempts === 1) throw value;
    });
    const first = await replay(receiver, 'order:paid');
    expect(first).toMatchObject({ status: 500, outcome: 'failed' });
    expect(told.length).toBe(1);
    expect(told[0] === value).toBe(true);
    const second = await replay(receiver, 'order:paid');
    expect(second).toMatchObject({ status: 200, outcome: 'handled' });
    expect(attempts).toBe(2);
  });

  test.each(thrown)('threat 21: without a hook, %s is one line on stderr', async (_, value) => {
    const receiver = createReceiver({ secret, store: memoryStore() }).on('*', () => {
      throw value;
    });
    expect(await replay(receiver, 'order:paid')).toMatchObject({ status: 500, outcome: 'failed' });
    expect(log).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^storefront-webhooks: .+$/));
  });

  test.each(thrown)('threat 21: oncePer may throw %s', async (_, value) => {
    const { receiver } = watched();
    const deliver = vi.fn();
    receiver.on('order:paid', deliver, {
      name: 'order:paid',
      oncePer() {
        throw value;
      },
    });
    expect(await replay(receiver, 'order:paid')).toMatchObject({ status: 500, outcome: 'failed' });
    expect(deliver).not.toHaveBeenCalled();
  });

  const injections: readonly (readonly [string, string])[] = [
    ['a line end', 'a\nstorefront-webhooks: all is well'],
    ['a carriage return', 'a\rb'],
    ['a line separator', 'a\u2028b\u2029c\u0085d'],
    ['terminal controls', '\u001b[2J\u009b31m\u0007'],
    ['a change of direction', '\u202Eabc\u2066'],
    ['an invisible mark', 'a\u200Bb\uFEFFc'],
    ['a lone surrogate', 'a\uD800b'],
    ['format directives', '%s%d%o%c'],
    ['far too much', 'x'.repeat(100_000)],
  ];

  test.each(injections)('threat 22: %s in the id is not in the log', async (_, id) => {
    const receiver = createReceiver({ secret, store: memoryStore() }).on('*', () => {
      throw new Error('it did not work');
    });
    await receiver.receive(signed(order(), { 'x-service-webhook': id }));
    expectOneCleanLine('it did not work');
  });

  test.each(injections)('threat 22: %s in the event is not in the log', async (_, event) => {
    const receiver = createReceiver({ secret, store: memoryStore() }).onUnknown(() => {
      throw new Error('it did not work');
    });
    await receiver.receive(signed(order(), { 'x-service-event': event }));
    expectOneCleanLine('it did not work');
  });

  test.each(injections)(
    'threat 22: %s is neither in the log nor in the answer of a rejected body',
    async (_, text) => {
      const quoting: StandardSchema<unknown, never> = {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: () => ({ issues: [{ message: text, path: [text] }] }),
        },
      };
      const receiver = createReceiver({
        secret,
        store: memoryStore(),
        events: { 'order:updated': quoting },
      });
      const headers = { 'x-service-event': 'order:updated', 'x-service-webhook': text };
      const { status, body } = await receiver.receive(signed(order(), headers));
      expect(status).toBe(422);
      expectOneCleanLine('rejected delivery');
      for (const error of JSON.parse(body).errors ?? []) expect(error).toSatisfy(isClean);
      expect(body.length).toBeLessThan(1_000);
    },
  );

  test.each(injections)(
    "threat 22: %s in an error's message is not in the log",
    async (_, text) => {
      const receiver = createReceiver({ secret, store: memoryStore() }).on('*', () => {
        throw new Error(`no such product: ${text} (${paidOrder.id})`);
      });
      await replay(receiver, 'order:paid');
      expectOneCleanLine('no such product');
    },
  );
});

/** One argument, so that nothing is interpreted as a format, and no character that moves a cursor. */
function expectOneCleanLine(meant: string): void {
  expect(log).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(meant));
  const [line] = log.mock.lastCall ?? [];
  expect(line).toSatisfy(isClean);
  expect(String(line).length).toBeLessThan(5_000);
}

function isClean(text: string): boolean {
  return !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
}
