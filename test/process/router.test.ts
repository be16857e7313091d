import {
  createReceiver,
  eventSchemas,
  memoryStore,
  orderSchema,
  UsageError,
} from 'storefront-webhooks';
import { type Fixture, loadFixture, replay } from 'storefront-webhooks/testing';
import { describe, expect, test, vi } from 'vitest';

const EVENTS = Object.keys(eventSchemas);

function makeReceiver() {
  return createReceiver({
    secret: 'a secret for tests',
    store: memoryStore(),
    hooks: { onRejected() {} },
  });
}

/** Returns the names of the handlers that run for each known event. */
async function routesOf(receiver: ReturnType<typeof makeReceiver>) {
  const routes: Record<string, readonly string[]> = {};
  for (const event of EVENTS) {
    const { ran = [] } = await replay(receiver, event);
    if (ran.length > 0) routes[event] = [...ran].sort();
  }
  return routes;
}

const nothing = () => {};

describe('a pattern', () => {
  test('that is a name covers only that event', async () => {
    const receiver = makeReceiver().on('order:paid', nothing).on('query:replied', nothing);
    expect(await routesOf(receiver)).toEqual({
      'order:paid': ['order:paid'],
      'query:replied': ['query:replied'],
    });
  });

  test('that is a family covers the events of the family', async () => {
    expect(await routesOf(makeReceiver().on('order:*', nothing))).toEqual({
      'order:created': ['order:*'],
      'order:paid': ['order:*'],
      'order:updated': ['order:*'],
    });
    expect(await routesOf(makeReceiver().on('query:*', nothing))).toEqual({
      'query:created': ['query:*'],
      'query:replied': ['query:*'],
      'query:updated': ['query:*'],
    });
  });

  test("that is '*' covers every known event, and no other", async () => {
    const receiver = makeReceiver().on('*', nothing);
    expect(await routesOf(receiver)).toEqual(
      Object.fromEntries(EVENTS.map((event) => [event, ['*']])),
    );
    expect(await replay(receiver, 'unknown')).toMatchObject({ outcome: 'ignored', ran: [] });
  });

  test("that is '*' or a family covers the receiver's own events, too", async () => {
    const receiver = createReceiver({
      secret: 'a secret for tests',
      store: memoryStore(),
      events: {
        'subscription:renewed': { '~standard': orderSchema['~standard'] },
        'order:lost': orderSchema,
        // A name that begins like a family but does not belong to it.
        'orders:lost': orderSchema,
      },
    })
      .on('*', nothing)
      .on('subscription:*', nothing)
      .on('order:*', nothing);
    const renewed = { ...loadFixture('order:created'), event: 'subscription:renewed' };
    expect((await replay(receiver, renewed, { event: 'subscription:renewed' })).ran).toEqual([
      '*',
      'subscription:*',
    ]);
    expect((await replay(receiver, renewed, { event: 'order:lost' })).ran).toEqual([
      '*',
      'order:*',
    ]);
    expect((await replay(receiver, renewed, { event: 'orders:lost' })).ran).toEqual(['*']);
  });

  test('may be one of several in a list', async () => {
    const receiver = makeReceiver().on(['order:paid', 'query:*'], nothing, { name: 'notify' });
    expect(await routesOf(receiver)).toEqual({
      'order:paid': ['notify'],
      'query:created': ['notify'],
      'query:replied': ['notify'],
      'query:updated': ['notify'],
    });
  });
});

describe('a delivery', () => {
  test.each([
    ['a name and its family', ['order:paid', 'order:*'], 'order:paid'],
    ['a family and a name of it', ['order:*', 'order:paid'], 'order:*'],
    ['a name twice', ['order:paid', 'order:paid'], 'order:paid'],
    ["'*' and other patterns", ['*', 'order:*', 'order:paid'], '*'],
  ] as const)(
    'that one registration covers by %s runs its handler once',
    async (_, patterns, name) => {
      const handler = vi.fn();
      const receiver = makeReceiver().on(patterns, handler);
      expect((await replay(receiver, 'order:paid')).ran).toEqual([name]);
      expect(handler).toHaveBeenCalledOnce();
    },
  );

  test('runs every handler that covers it', async () => {
    const receiver = makeReceiver()
      .on('*', nothing)
      .on('order:*', nothing)
      .on('order:paid', nothing)
      .on('order:created', nothing)
      .on('order:paid', nothing, { name: 'deliver' });
    const { ran } = await replay(receiver, 'order:paid');
    expect([...(ran ?? [])].sort()).toEqual(['*', 'deliver', 'order:*', 'order:paid']);
  });

  test('passes its event, id and payload to its handler', async () => {
    const handler = vi.fn();
    await replay(makeReceiver().on('order:*', handler), 'order:paid', { id: 'whl_9' });
    expect(handler).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        id: 'whl_9',
        event: 'order:paid',
        payload: expect.objectContaining({ id: 'ord_5f2c9a7be1', value: '19.90' }),
        issues: [],
      }),
    );
  });

  test('without a matching handler is ignored', async () => {
    const receiver = makeReceiver().on('query:replied', nothing);
    expect(await replay(receiver, 'order:paid')).toMatchObject({
      status: 200,
      outcome: 'ignored',
      ran: [],
    });
  });
});

describe('onUnknown', () => {
  test('handles the unknown events, and only those', async () => {
    const handler = vi.fn();
    const receiver = makeReceiver().on('order:paid', nothing).onUnknown(handler);
    expect(await replay(receiver, 'unknown')).toMatchObject({
      outcome: 'handled',
      ran: ['onUnknown'],
    });
    expect(handler).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ event: 'subscription:renewed', payload: { id: 'sub_1' } }),
    );
    expect((await replay(receiver, 'order:paid')).ran).toEqual(['order:paid']);
    expect((await replay(receiver, 'order:created')).outcome).toBe('ignored');
  });

  test.each([
    'constructor',
    'toString',
    '__proto__',
    'then',
    'error',
    'newListener',
    'hasOwnProperty',
    '*',
    'order:*',
    'onUnknown',
    'order:',
  ])('handles an event named "%s", which is an ordinary name', async (event) => {
    const fixture: Fixture = loadFixture('unknown');
    const plain = makeReceiver().on('*', nothing);
    expect(await replay(plain, fixture, { event })).toMatchObject({ outcome: 'ignored', ran: [] });
    const receiver = makeReceiver().on('*', nothing).onUnknown(nothing);
    expect(await replay(receiver, fixture, { event })).toMatchObject({ ran: ['onUnknown'] });
  });
});

describe('onInvalid', () => {
  test('handles a payload that is invalid or contradicts its event', async () => {
    const handler = vi.fn();
    const receiver = makeReceiver().on('*', nothing).onUnknown(nothing).onInvalid(handler);
    for (const name of ['hostile/refunded-as-paid', 'hostile/empty-object']) {
      expect(await replay(receiver, name)).toMatchObject({
        status: 200,
        outcome: 'parked',
        ran: ['onInvalid'],
      });
    }
    expect(
      handler.mock.calls.map(([{ event, issues }]) => [
        event,
        issues.map(({ path }: { path: string }) => path),
      ]),
    ).toEqual([
      ['order:paid', ['status']],
      ['order:paid', ['status']],
    ]);
    expect((await replay(receiver, 'order:paid')).ran).toEqual(['*']);
  });

  test('prevents its rejection', async () => {
    const receiver = makeReceiver().on('*', nothing).onUnknown(nothing);
    expect(await replay(receiver, 'hostile/refunded-as-paid')).toMatchObject({
      status: 422,
      outcome: 'rejected',
      ran: [],
    });
  });
});

describe('a wrong registration', () => {
  /** Returns the error that a registration throws in JavaScript. */
  function thrownBy(register: (receiver: ReturnType<typeof makeReceiver>) => unknown): UsageError {
    try {
      register(makeReceiver());
    } catch (error) {
      if (error instanceof UsageError) return error;
    }
    throw new Error('expected a UsageError');
  }

  test('with an empty list of events is rejected', () => {
    expect(thrownBy((receiver) => receiver.on([], nothing)).code).toBe('handler_invalid');
  });

  test.each([
    'order:piad',
    'orders:*',
    'ord*',
    '',
    ':*',
    'constructor',
    'Order:paid',
    '**',
    'toString',
  ])('with "%s", which covers no event, is rejected with a list of events', (pattern) => {
    for (const patterns of [pattern, ['order:paid', pattern]]) {
      const { code, message } = thrownBy((receiver) =>
        Reflect.apply(receiver.on, receiver, [patterns, nothing]),
      );
      expect(code).toBe('event_unknown');
      expect(message).toContain(JSON.stringify(pattern));
      for (const event of EVENTS) expect(message).toContain(event);
      expect(message).toContain('createReceiver({ events: { name: schema } })');
      expect(message).toContain('.onUnknown()');
    }
  });

  test.each([undefined, null, {}, 'deliver'])(
    'with %j as a handler is rejected with the pattern',
    (handler) => {
      const registrations: [string, unknown[]][] = [
        ['on', ['order:paid', handler]],
        ['onUnknown', [handler]],
        ['onInvalid', [handler]],
      ];
      const messages = registrations.map(([method, args]) => {
        const error = thrownBy((receiver) =>
          Reflect.apply(Reflect.get(receiver, method), receiver, args),
        );
        expect(error.code).toBe('handler_invalid');
        return error.message;
      });
      expect(messages).toEqual([
        expect.stringContaining('"order:paid" is not a function'),
        expect.stringContaining('"onUnknown" is not a function'),
        expect.stringContaining('"onInvalid" is not a function'),
      ]);
    },
  );

  test.each([
    [
      'the same pattern',
      (receiver: ReturnType<typeof makeReceiver>) =>
        receiver.on('order:*', nothing).on('order:*', nothing),
      'order:*',
    ],
    [
      'the same name',
      (receiver: ReturnType<typeof makeReceiver>) =>
        receiver
          .on('order:paid', nothing, { name: 'mail' })
          .on('query:*', nothing, { name: 'mail' }),
      'mail',
    ],
    [
      'a name that is a pattern',
      (receiver: ReturnType<typeof makeReceiver>) =>
        receiver.on('order:paid', nothing).on('query:*', nothing, { name: 'order:paid' }),
      'order:paid',
    ],
    [
      'a pattern of a list',
      (receiver: ReturnType<typeof makeReceiver>) =>
        receiver.on(['*', 'order:paid'], nothing).on('order:paid', nothing),
      'order:paid',
    ],
  ])('with %s twice is rejected with the advice to set a name', (_, register, name) => {
    const { code, message } = thrownBy(register);
    expect(code).toBe('handler_duplicate');
    expect(message).toContain(`"${name}"`);
    expect(message).toContain("{ name: 'other' }");
  });

  test.each(['onUnknown', 'onInvalid'] as const)(
    'with a second %s is rejected without that advice, because it cannot have a name',
    (method) => {
      const { code, message } = thrownBy((receiver) => receiver[method](nothing)[method](nothing));
      expect(code).toBe('handler_duplicate');
      expect(message).toContain(`"${method}"`);
      expect(message).not.toContain("{ name: 'other' }");
    },
  );

  test.each([
    ['order:*', 'order:*'],
    ['*', '*'],
    [['order:paid', 'query:*'], 'query:*'],
  ])(
    'with oncePer on %j is rejected, because a new event would join, with the advice to list events',
    (patterns, family) => {
      const { code, message } = thrownBy((receiver) =>
        Reflect.apply(receiver.on, receiver, [
          patterns,
          nothing,
          { name: 'a', oncePer: () => 'key' },
        ]),
      );
      expect(code).toBe('handler_invalid');
      expect(message).toContain(
        `oncePer needs exact event names, and '${family}' would include new ones`,
      );
      expect(message).toContain("['order:paid', 'order:updated']");
    },
  );

  test.each([
    [{ onceper: (order: { id: string }) => order.id }, 'onceper. Did you mean "oncePer"?'],
    [
      { retries: 1 },
      'no option retries. The options are name, formerly, when, oncePer, skipOlder, transaction.',
    ],
    [() => 'a', 'not function'],
    [null, 'not null'],
    [{ name: '' }, 'has to be a single text that is not empty'],
    [{ name: 5 }, 'has to be a single text that is not empty'],
    [{ name: 'a', formerly: '' }, 'has to be a single text that is not empty'],
    [{ formerly: 'a' }, 'formerly needs a name'],
    [{ oncePer: () => 'a' }, "formerly: 'order:paid'"],
    [{ when: true }, 'when has to be a function'],
  ])('with unknown or invalid options is rejected (%o)', (options, said) => {
    const receiver = makeReceiver();
    const register = () => receiver.on('order:paid', () => {}, options as never);
    expect(register).toThrow(
      expect.objectContaining({ code: 'handler_invalid', message: expect.stringContaining(said) }),
    );
  });

  test.each([
    ['order:payed', 'Did you mean "order:paid"?'],
    ['Order:Paid', 'Did you mean "order:paid"?'],
    ['orders:*', 'Did you mean "order:*"?'],
    ['subscription:renewed', 'covered by "subscription:renewed". Known are'],
    [undefined, 'covered by undefined. Known are'],
  ])('with an unknown event (%s) is rejected with the nearest name', (event, said) => {
    const receiver = makeReceiver();
    const register = () => receiver.on(event as 'order:paid', () => {});
    expect(register).toThrow(
      expect.objectContaining({ code: 'event_unknown', message: expect.stringContaining(said) }),
    );
  });

  test('with an oncePer that is not a function is rejected with the right type', () => {
    const { code, message } = thrownBy((receiver) =>
      Reflect.apply(receiver.on, receiver, ['order:paid', nothing, { oncePer: 'id' }]),
    );
    expect(code).toBe('handler_invalid');
    expect(message).toContain('(order) => order.id');
  });

  test.each(['on', 'onUnknown', 'onInvalid'])(
    'with %s after the first delivery is rejected with advice',
    async (method) => {
      const receiver = makeReceiver().on('order:paid', nothing);
      await replay(receiver, 'hostile/unsigned');
      Reflect.apply(receiver.on, receiver, ['query:created', nothing]);
      await replay(receiver, 'unknown');
      const args = method === 'on' ? ['query:replied', nothing] : [nothing];
      expect(() => Reflect.apply(Reflect.get(receiver, method), receiver, args)).toThrow(
        expect.objectContaining({
          code: 'registered_late',
          message: expect.stringContaining('Register all handlers where the receiver is created'),
        }),
      );
      expect((await replay(receiver, 'query:replied')).outcome).toBe('ignored');
    },
  );

  test('throws a TypeError', () => {
    expect(
      thrownBy((receiver) => Reflect.apply(receiver.on, receiver, ['x', nothing])),
    ).toBeInstanceOf(TypeError);
  });
});
