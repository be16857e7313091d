import {
  createReceiver,
  type Delivery,
  memoryStore,
  type Receiver,
  type Rejection,
  type Result,
  type StandardSchema,
  type WebhookEvent,
  type WebhookRequest,
} from 'storefront-webhooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { INTERNALS } from '../../src/process/internals.js';
import { forward } from '../../src/stores/contract.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { gate } from '../support/gate.js';

const hooks = { onError() {} };

afterEach(() => void vi.useRealTimers());

describe('a handler', () => {
  test('gets the delivery', async () => {
    const handler = vi.fn<(event: WebhookEvent<string, unknown>) => void>();
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', handler);
    const before = Date.now();
    await deliver(receiver, paidOrder({ value: 19.9, quantity: 'two' }));
    const event = handler.mock.calls[0]?.[0];
    expect(event).toMatchObject({
      id: 'whl_1',
      event: 'order:paid',
      scope: '',
      attempt: 1,
      source: 'webhook',
      payload: { id: 'ord_1', value: '19.9', quantity: undefined },
    });
    expect(event?.issues).toContainEqual({ path: 'quantity', message: 'expected number' });
    expect(event?.receivedAt.getTime()).toBeGreaterThanOrEqual(before);
    expect(event?.signal.aborted).toBe(false);
    expect(Buffer.from(event?.rawBody ?? []).toString()).toBe(
      JSON.stringify(paidOrder({ value: 19.9, quantity: 'two' })),
    );
  });

  test('that threw runs again when the same id is retried', async () => {
    const handler = vi.fn().mockRejectedValueOnce(new Error('the mail server is down'));
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', handler);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
    expect(handler.mock.calls.map(([{ attempt }]) => attempt)).toEqual([1, 2]);
  });

  test('that finished does not run again if another one failed', async () => {
    const finishes = vi.fn();
    const fails = vi.fn().mockRejectedValueOnce(new Error('no'));
    const receiver = createReceiver({ secret: SECRET, hooks })
      .on('order:paid', finishes)
      .on('order:*', fails);
    expect(await deliver(receiver, paidOrder())).toMatchObject({
      outcome: 'failed',
      ran: ['order:paid'],
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({
      outcome: 'handled',
      ran: ['order:*'],
    });
    expect(finishes).toHaveBeenCalledOnce();
    expect(fails).toHaveBeenCalledTimes(2);
  });

  test.each<[string, (items: readonly Promise<void>[]) => unknown]>([
    ['an array of promises', (items) => items],
    ['a promise of such an array', async (items) => items],
    ['arrays in an array', (items) => items.map((item) => [item])],
    ['promises of arrays in an array', (items) => items.map(async (item) => [[item]])],
  ])('that returns %s has ended when all have, and fails with any of them', async (_, returned) => {
    const sent: number[] = [];
    let isDown = true;
    const send = async (item: number) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (item === 3 && isDown) throw new Error('the mail server is down');
      sent.push(item);
    };
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onError } }).on('order:paid', () =>
      returned([1, 2, 3].map(send)),
    );
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    expect(onError.mock.calls).toMatchObject([[{ message: 'the mail server is down' }, {}]]);
    sent.length = 0;
    isDown = false;
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(sent).toEqual([1, 2, 3]);
  });

  test('may return an array that contains itself', async () => {
    const own: unknown[] = [];
    own.push(own);
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', () => own);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  });

  test('that failed does not stop the others', async () => {
    const order: string[] = [];
    const receiver = createReceiver({ secret: SECRET, hooks })
      .on('order:paid', () => {
        throw new Error('at once');
      })
      .on('order:*', async () => {
        await new Promise((resolve) => setImmediate(resolve));
        order.push('the slow one');
      });
    await deliver(receiver, paidOrder());
    expect(order).toEqual(['the slow one']);
  });

  test('runs at the same time as the others', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const receiver = createReceiver({ secret: SECRET })
      .on('order:paid', () => released)
      .on('order:*', () => release());
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  });

  const hostile = Object.defineProperty(new Error(), 'message', {
    get() {
      throw new Error('gotcha');
    },
  });
  test.each([
    ['a string', 'no'],
    ['undefined', undefined],
    ['null', null],
    ['a frozen error', Object.freeze(new Error('frozen'))],
    ['an error whose message throws', hostile],
    ['an object without a prototype', Object.create(null)],
    ['a symbol', Symbol('no')],
  ])('may throw %s', async (_, thrown) => {
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onError } }).on('order:paid', () => {
      throw thrown;
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    expect(onError.mock.calls[0]?.[0]).toBe(thrown);
    expect(onError.mock.calls[0]?.[1]).toEqual({
      id: 'whl_1',
      event: 'order:paid',
      scope: '',
      handler: 'order:paid',
      attempt: 1,
    });
  });

  test('gets its own copy of a payload that contains itself, as a schema may make it', async () => {
    const validate = (value: unknown) => {
      const order = { ...Object(value), items: [{ name: 'a key' }] };
      order.items[0].order = order;
      return { value: order };
    };
    const own: StandardSchema = { '~standard': { version: 1, vendor: 'own', validate } };
    const names: string[] = [];
    const receiver = createReceiver({ secret: SECRET, events: { 'order:paid': own } });
    for (const name of ['first', 'second']) {
      const handler = ({ payload }: { readonly payload: unknown }) => {
        const order = Object(payload);
        expect(order.items[0].order).toBe(order);
        names.push(order.items[0].name);
        order.items[0].name = 'changed';
      };
      receiver.on('order:paid', handler, { name, when: () => true });
    }
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(names).toEqual(['a key', 'a key']);
  });

  test('gets an aborted signal when its time is over', async () => {
    const aborted = vi.fn();
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, timeout: 10, hooks: { onError } }).on(
      'order:paid',
      ({ signal }) => {
        signal.addEventListener('abort', () => aborted(signal.reason));
        return new Promise(() => {});
      },
    );
    await deliver(receiver, paidOrder());
    expect(aborted).toHaveBeenCalledWith(expect.objectContaining({ code: 'handler_timeout' }));
    expect(onError).toHaveBeenCalledOnce();
  });

  test('gets an aborted signal if it asks for one after its time is over', async () => {
    const { opened, open } = gate();
    const reason = vi.fn();
    const receiver = createReceiver({ secret: SECRET, timeout: 10, hooks }).on(
      'order:paid',
      async (event) => {
        await opened;
        // The lease creates the signal when the handler first reads it.
        reason(event.signal.reason);
      },
    );
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    open();
    await receiver.close();
    const late = expect.objectContaining({ code: 'handler_timeout' });
    expect(reason).toHaveBeenCalledExactlyOnceWith(late);
  });
});

test.each<[string, (receiver: Receiver, delivery: Delivery) => Promise<Result>]>([
  ['dispatch', (receiver, delivery) => receiver.dispatch(delivery)],
  ['recovery', (receiver, delivery) => receiver[INTERNALS].process(delivery)],
])(
  'a delivery that %s processes again is as it was, whatever a handler changed',
  async (_, run) => {
    const statuses: unknown[] = [];
    const receiver = createReceiver({ secret: SECRET, store: memoryStore(), hooks }).onPaid(
      ({ payload }) => {
        statuses.push(payload.status);
        // A JavaScript program can change it.
        Object.assign(payload, { status: 'completed' });
        throw new Error('the database is down');
      },
    );
    const delivery = await verified(receiver);
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await run(receiver, delivery)).toMatchObject({ outcome: 'failed' });
    expect(statuses).toEqual([100, 100]);
    expect(delivery.payload).toMatchObject({ status: 100 });
  },
);

async function verified(receiver: Receiver): Promise<Delivery> {
  let found: Delivery | Rejection | undefined;
  const receive = async (request: WebhookRequest) => {
    found = await receiver.verify(request);
    return { status: 200, headers: {}, body: '', outcome: 'handled', ran: [] } as const;
  };
  await deliver({ receive }, paidOrder());
  if (!found || found.outcome === 'rejected') throw new Error('it was rejected');
  return found;
}

test('no handler starts after its process was frozen for longer than the lease', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const second = vi.fn();
    let frozenMs = 11_000;
    const receiver = createReceiver({ secret: SECRET, hooks })
      // The first handler freezes the process, or computes for as long.
      .on('order:paid', () => {
        vi.advanceTimersByTime(frozenMs);
        frozenMs = 0;
      })
      .on('order:*', second);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 503, outcome: 'busy' });
    expect(second).not.toHaveBeenCalled();
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(second).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});

describe('once', () => {
  test('remembers a step and its result across retries', async () => {
    const invoice = vi.fn(async () => ({ number: 7 }));
    const mail = vi.fn().mockRejectedValueOnce(new Error('no'));
    const seen: unknown[] = [];
    const receiver = createReceiver({ secret: SECRET, hooks }).on(
      'order:paid',
      async ({ once }) => {
        seen.push(await once('invoice', invoice));
        await once('mail', async () => {
          await mail();
        });
      },
    );
    await deliver(receiver, paidOrder());
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(invoice).toHaveBeenCalledOnce();
    expect(mail).toHaveBeenCalledTimes(2);
    expect(seen).toEqual([{ number: 7 }, { number: 7 }]);
  });

  test('shares a step that is started twice at the same time', async () => {
    const step = vi.fn(async () => 1);
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', async ({ once }) => {
      expect(await Promise.all([once('a', step), once('a', step)])).toEqual([1, 1]);
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(step).toHaveBeenCalledOnce();
  });

  test('runs a step that has failed again if its handler asks for it again', async () => {
    const invoice = vi.fn(async () => 7).mockRejectedValueOnce(new Error('busy'));
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', async ({ once }) => {
      await expect(once('invoice', invoice)).rejects.toThrow('busy');
      expect(await once('invoice', invoice)).toBe(7);
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  });

  test('returns the recorded result, even if the handler modifies its copy', async () => {
    const seen: unknown[] = [];
    const receiver = createReceiver({ secret: SECRET, hooks }).on(
      'order:paid',
      async ({ once, attempt }) => {
        const step = async () => {
          const result = await once('invoice', () => ({ lines: [1] }));
          seen.push(structuredClone(result));
          result.lines.push(2);
        };
        await Promise.all([step(), step()]);
        await step();
        if (attempt < 3) throw new Error('no');
      },
    );
    for (let attempt = 1; attempt <= 3; attempt++) await deliver(receiver, paidOrder());
    expect(seen).toEqual(Array.from({ length: 9 }, () => ({ lines: [1] })));
  });

  test('keeps a delivery from being done before its steps, even if the handler does not await them', async () => {
    const { open, opened } = gate();
    const [mail, book] = [vi.fn(() => opened), vi.fn()];
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', ({ once }) => {
      void (async () => {
        await once('mail', mail);
        await once('book', book);
      })();
    });
    const ended = vi.fn();
    const delivering = deliver(receiver, paidOrder()).then(ended);
    await vi.waitFor(() => expect(mail).toHaveBeenCalled());
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ended).not.toHaveBeenCalled();
    open();
    await delivering;
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ outcome: 'handled' }));
    expect(book).toHaveBeenCalledOnce();
  });

  test('fails a delivery if a step fails that its handler does not await', async () => {
    const mail = vi.fn(async () => {});
    mail.mockImplementationOnce(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new Error('no');
    });
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onError } }).on(
      'order:paid',
      ({ once }) => {
        void once('mail', mail);
      },
    );
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    expect(onError).toHaveBeenCalledExactlyOnceWith(new Error('no'), expect.anything());
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(mail).toHaveBeenCalledTimes(2);
  });

  test('fails a delivery if a step that its handler does not await has failed before the handler ends', async () => {
    const mail = vi.fn(async () => {}).mockRejectedValueOnce(new Error('no mail today'));
    const receiver = createReceiver({ secret: SECRET, hooks }).on(
      'order:paid',
      async ({ once }) => {
        // Not caught: vitest fails the run if this becomes an unhandled rejection.
        void once('mail', mail);
        await new Promise((resolve) => setTimeout(resolve, 5));
      },
    );
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(mail).toHaveBeenCalledTimes(2);
  });

  test('leaves the failure of a step that begins after its handler to whoever began it', async () => {
    const failed = vi.fn();
    let begin = () => {};
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', ({ once }) => {
      begin = () => {
        const step = once('mail', () => Promise.reject(new Error('no mail today')));
        expect(step.constructor).toBe(Promise);
        step.catch(failed);
      };
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    begin();
    await vi.waitFor(() => expect(failed).toHaveBeenCalled());
  });

  test.each([
    ['at once', 0],
    ['after a lease would have expired', 60_000],
  ])('runs a step that begins after its handler: %s', async (_, ms) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const mail = vi.fn(() => 'sent');
    let begin = async (): Promise<unknown> => undefined;
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', ({ once }) => {
      begin = async () => [await once('mail', mail), await once('mail', mail)];
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    vi.advanceTimersByTime(ms);
    expect(await begin()).toEqual(['sent', 'sent']);
    expect(mail).toHaveBeenCalledOnce();
  });

  test('begins no step after its handler once another process may run it, because its end is not recorded', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const mail = vi.fn();
    let begin = async () => {};
    const store = forward(memoryStore(), { complete: () => Promise.reject(new Error('down')) });
    const receiver = createReceiver({ secret: SECRET, store, hooks }).on(
      'order:paid',
      ({ once }) => {
        begin = () => once('mail', mail);
      },
    );
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    vi.advanceTimersByTime(11_000);
    await expect(begin()).rejects.toMatchObject({ code: 'lease_lost' });
    expect(mail).not.toHaveBeenCalled();
  });

  test('begins no step after one that a failed handler has left behind, because a retry may run', async () => {
    const mail = vi.fn();
    let goOn = async (): Promise<unknown> => undefined;
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', ({ once }) => {
      goOn = async () => {
        await once('book', () => {});
        await once('mail', mail);
      };
      throw new Error('no');
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    await expect(goOn()).rejects.toMatchObject({ code: 'lease_lost' });
    expect(mail).not.toHaveBeenCalled();
  });

  test('runs a step that begins after a handler which ended late, once that is recorded', async () => {
    const late = vi.fn();
    let begin = async () => {};
    const receiver = createReceiver({ secret: SECRET, timeout: 5, hooks }).on(
      'order:paid',
      async ({ once, signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        begin = () => once('late', late);
      },
    );
    const { recorded } = await deliver(receiver, paidOrder());
    await recorded;
    await begin();
    expect(late).toHaveBeenCalledOnce();
  });

  test.each<[string, (step: Promise<unknown>) => Promise<unknown>]>([
    ['at once', (step) => step.catch(() => {})],
    [
      'after it has failed',
      async (step) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await step.catch(() => {});
      },
    ],
    ['among others', (step) => Promise.allSettled([step, 'another'])],
  ])('completes a delivery whose handler accepts the failure of a step: %s', async (_, accept) => {
    const mail = vi.fn().mockRejectedValue(new Error('no mail today'));
    const receiver = createReceiver({ secret: SECRET, hooks }).on(
      'order:paid',
      async ({ once }) => {
        await accept(once('mail', mail));
      },
    );
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(mail).toHaveBeenCalledOnce();
  });

  test('fails a delivery if a step fails that begins only after another one that its handler does not await', async () => {
    const mail = vi.fn(async () => {});
    mail.mockImplementationOnce(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('no mail today');
    });
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', ({ once }) => {
      once('book', () => {})
        .then(() => once('mail', mail))
        .catch(() => {});
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(mail).toHaveBeenCalledTimes(2);
  });

  test('remembers a step that was running beside one that failed', async () => {
    const { open, opened } = gate();
    const book = vi.fn(() => opened);
    const mail = vi.fn(async () => {}).mockRejectedValueOnce(new Error('no'));
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', ({ once }) =>
      Promise.all([once('mail', mail), once('book', book)]),
    );
    const failing = deliver(receiver, paidOrder());
    await vi.waitFor(() => expect(book).toHaveBeenCalled());
    setTimeout(open, 5);
    expect(await failing).toMatchObject({ outcome: 'failed' });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect([mail, book].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
  });

  test.each([undefined, 30])(
    'begins no step after a handler that has failed, unless it is recorded: %s ms after the step before',
    async (gapMs) => {
      const begun: string[] = [];
      const ended: string[] = [];
      const perform = (name: string) => async () => {
        begun.push(name);
        await new Promise((resolve) => setTimeout(resolve, 5));
        ended.push(name);
      };
      const book = vi.fn().mockRejectedValueOnce(new Error('no stock'));
      let left: Promise<unknown> = Promise.resolve();
      const receiver = createReceiver({ secret: SECRET, hooks }).onPaid(async ({ once }) => {
        left = (async () => {
          await once('invoice', perform('invoice'));
          if (gapMs !== undefined) await new Promise((resolve) => setTimeout(resolve, gapMs));
          await once('mail', perform('mail'));
        })();
        await Promise.all([once('book', book), left]);
      });
      expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
      await left.catch(() => {});
      expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
      expect([begun, ended]).toEqual([
        ['invoice', 'mail'],
        ['invoice', 'mail'],
      ]);
    },
  );

  test.each([undefined, '', 'ship undefined', 7])(
    'runs no step with the name %j, because another step may have the same one',
    async (name) => {
      const ship = vi.fn();
      const onError = vi.fn();
      const receiver = createReceiver({ secret: SECRET, hooks: { onError } }).on(
        'order:paid',
        // @ts-expect-error: a mistake that a JavaScript program can make.
        ({ once }) => once(name, ship),
      );
      for (let attempt = 1; attempt <= 2; attempt++)
        expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
      expect(ship).not.toHaveBeenCalled();
      expect(onError.mock.calls[0]?.[0]).toMatchObject({
        code: 'key_invalid',
        message: expect.stringContaining('once needs a string such as order.id'),
      });
    },
  );

  test('keeps the steps of two handlers and two deliveries apart', async () => {
    const step = vi.fn(() => null);
    const handler = ({ once }: WebhookEvent<string, unknown>) => once('a', step);
    const receiver = createReceiver({ secret: SECRET })
      .on('order:paid', handler)
      .on('order:*', handler);
    await deliver(receiver, paidOrder());
    await deliver(receiver, paidOrder(), { id: 'whl_2' });
    expect(step).toHaveBeenCalledTimes(4);
  });

  test('starts no step after the timeout', async () => {
    const late = vi.fn();
    const ended = vi.fn();
    const receiver = createReceiver({ secret: SECRET, timeout: 5, hooks }).on(
      'order:paid',
      async ({ once, signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await once('late', late).catch(ended);
      },
    );
    await deliver(receiver, paidOrder());
    await vi.waitUntil(() => ended.mock.calls.length > 0);
    expect(late).not.toHaveBeenCalled();
  });
});
