import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type {
  createReceiver as CreateReceiver,
  memoryStore as MemoryStore,
  ReceiverOptions,
} from 'storefront-webhooks';
import {
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { version } from '../../package.json' with { type: 'json' };
import { missing, placeOf } from '../support/anchors.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const MINUTE_MS = 60_000;
let createReceiver: typeof CreateReceiver;
let memoryStore: typeof MemoryStore;
let lines: string[] = [];

// The first use is logged for at most twenty configurations of a process, perhaps already by other files.
beforeAll(async () => {
  vi.resetModules();
  ({ createReceiver, memoryStore } = await import('storefront-webhooks'));
});

beforeEach(() => {
  lines = [];
  const write = (line: string) => void lines.push(line);
  vi.spyOn(console, 'error').mockImplementation(write);
  vi.spyOn(console, 'warn').mockImplementation(write);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  // Leave out the lines that `debug` adds for each delivery, which name no page.
  const troubles = told().filter((line) => !/ in \d+\.\d ms/.test(line));
  expect(missing(troubles.map((line) => placeOf(line) ?? line))).toEqual([]);
});

/** The lines without the one of the first use, which is logged once per process. */
const told = () => lines.filter((line) => !line.includes('is in use'));

function shop(options: Partial<ReceiverOptions> = {}) {
  return createReceiver({ secret: SECRET, store: memoryStore(), ...options });
}

function holdTime() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

describe('a rejection is logged to stderr', () => {
  const unsigned = { 'x-service-signature': '' };

  test.each<[string, object, Parameters<typeof deliver>[2], string, string]>([
    [
      'a wrong secret',
      {},
      { secret: 'another secret' },
      'The secret does not fit. Compare it',
      'none-fits',
    ],
    [
      'a quoted secret',
      { secret: `"${SECRET}"` },
      {},
      'The secret does not fit. A secret is in quotation marks',
      'none-fits',
    ],
    [
      'several wrong secrets',
      { secret: [SECRET, 'a second one'] },
      { secret: 'another secret' },
      'None of the 2 secrets fits.',
      'none-fits',
    ],
    [
      'no signature',
      {},
      { headers: unsigned },
      'There was no `X-Service-Signature`.',
      'missing-header',
    ],
    [
      'headers with another prefix',
      {},
      { headers: { ...unsigned, 'x-brand-signature': 'f'.repeat(128) } },
      "There was no `X-Service-Signature`, but `X-Brand-Signature`: set headerPrefix: 'X-Brand-'.",
      'wrong-prefix',
    ],
    [
      'a signature of another format',
      {},
      { headers: { 'x-service-signature': `sha256=${'f'.repeat(64)}` } },
      '`X-Service-Signature` is not 128 hexadecimal digits',
      'not-hex',
    ],
    [
      'an unknown shop',
      { secret: () => null },
      {},
      'The secret function knows no shop for it.',
      'no-shop',
    ],
  ])('with the cause: %s', async (_, options, sent, cause, anchor) => {
    expect(await deliver(shop(options), paidOrder(), sent)).toMatchObject({ status: 401 });
    expect(told()).toHaveLength(1);
    expect(told()[0]).toContain(`rejected a delivery because of the signature (401). ${cause}`);
    expect(placeOf(told()[0])).toBe(`debug.md#${anchor}`);
    // The message contains names of headers, but not their values.
    expect(told()[0]).not.toMatch(/[0-9a-f]{32}/);
  });

  test('without mentioning headers that no provider would send', async () => {
    const name = `x-${'a'.repeat(100)}-signature`;
    const headers = { ...unsigned, [name]: 'x', 'x-a\nb-signature': 'x', signature: 'x' };
    await deliver(shop(), paidOrder(), { headers });
    expect(told()).toEqual([expect.stringContaining('There was no `X-Service-Signature`.')]);
  });

  test('immediately for the first, and as a count for the others of a minute', async () => {
    holdTime();
    const receiver = shop();
    for (let sent = 0; sent < 13; sent++) {
      await deliver(receiver, paidOrder(), { secret: 'another secret', id: `${sent}` });
    }
    expect(told()).toHaveLength(1);
    vi.advanceTimersByTime(MINUTE_MS + 1);
    expect(told()).toHaveLength(2);
    expect(told()[1]).toContain(
      'rejected 12 deliveries within a minute because of the signature (401).',
    );
    vi.advanceTimersByTime(10 * MINUTE_MS);
    expect(told()).toHaveLength(2);
    await deliver(receiver, paidOrder(), { secret: 'another secret' });
    expect(told()).toHaveLength(3);
  });

  test('within limits, for rejections of any kind', async () => {
    const receiver = shop();
    for (let sent = 0; sent < 50; sent++) {
      const headers = { 'x-service-signature': '', [`x-brand${sent}-signature`]: 'x' };
      await deliver(receiver, paidOrder(), { headers });
      await deliver(receiver, paidOrder(), { headers: { 'content-encoding': 'gzip' } });
    }
    await deliver(receiver, paidOrder(), { secret: 'another secret' });
    expect(told()).toHaveLength(3);
    expect(told()[2]).toContain('The secret does not fit.');
  });

  test('and counted to the end when the receiver closes', async () => {
    const receiver = shop();
    for (const id of ['1', '2']) await deliver(receiver, paidOrder(), { secret: 'wrong', id });
    expect(told()).toHaveLength(1);
    await receiver.close();
    expect(told()[1]).toContain('rejected a delivery');
  });

  test('without delaying the end of the process until the count of the minute', async () => {
    const program = `import { createReceiver } from 'storefront-webhooks';
      const receiver = createReceiver({ secret: 'a secret' });
      const headers = { 'x-service-event': 'order:paid' };
      for (let sent = 0; sent < 2; sent++)
        await receiver.receive({ method: 'POST', headers, body: new Uint8Array(2) });`;
    const args = ['--input-type=module', '--eval', program];
    // The count would be logged after a minute.
    const run = promisify(execFile)(process.execPath, args, {
      cwd: inject('built'),
      timeout: 15_000,
    });
    expect((await run).stderr).toContain('rejected a delivery because of the signature (401)');
  });

  test('with the id of a genuine delivery, its error and the expected value', async () => {
    holdTime();
    const receiver = shop();
    for (let sent = 0; sent < 1000; sent++) await deliver(receiver, paidOrder({ status: 56 }));
    expect(told()).toEqual([
      'storefront-webhooks: rejected delivery "whl_1" ("order:paid", order "ord_1") with 422: The payload ' +
        'does not fit its event. Look at: status is 56 (refunded), and paidStatuses are [100]. ' +
        'See node_modules/storefront-webhooks/docs/errors.md#payload_invalid',
    ]);
    vi.advanceTimersByTime(MINUTE_MS + 1);
    expect(told()[1]).toContain(
      'rejected 999 more genuine deliveries with 422 within a minute, the latest',
    );
  });

  test.each([
    ['100', 'is a text (name the one that means paid), and'],
    [60, 'is a number that is not a known state, and'],
    [null, 'is null, and'],
    [undefined, 'is missing, and'],
  ])('without the status if it is not a known one: %j', async (status, said) => {
    await deliver(shop(), paidOrder({ status }));
    expect(told()[0]).toContain(said);
  });
});

describe('an error is logged to stderr', () => {
  async function fail(error: unknown, payload = paidOrder(), id = 'whl_1') {
    const receiver = shop().on('order:paid', async () => {
      throw error;
    });
    await deliver(receiver, payload, { id });
    return receiver;
  }

  test('with the handler, the delivery, its order, the attempt, the place and the cause', async () => {
    const cause = new Error('connect ECONNREFUSED', { cause: 'a text' });
    const receiver = await fail(new RangeError('out of\nkeys', { cause }));
    await deliver(receiver, paidOrder());
    const begin = (attempt: number) =>
      `storefront-webhooks: error in the handler "order:paid" for delivery "whl_1" ("order:paid", ` +
      `order "ord_1", attempt ${attempt}): RangeError: out of\\u{a}keys, at `;
    expect(told().map((line, index) => line.startsWith(begin(index + 1)))).toEqual([true, true]);
    expect(told()[0]).toMatch(/stderr\.test\.ts:\d+:\d+/);
    expect(told()[0]).toMatch(
      /; caused by Error: connect ECONNREFUSED, at .*; caused by a text\. See node_modules\/storefront-webhooks\/docs\/operate\.md#handler-failed$/,
    );
  });

  test.each([
    ['an id', 'x" (query:created) with 200: Handled. rejected delivery "whl_victim', 'ord_1'],
    ['an order', 'whl_1', 'ord_1", attempt 1): all is well. "'],
  ])('with %s in quotes that the quoted text cannot close', async (_, id, order) => {
    await fail('no', paidOrder({ id: order }), id);
    expect(told()[0]).toMatch(
      /^storefront-webhooks: error in the handler "order:paid" for delivery "(\\.|[^"\\])*" \("order:paid", order "(\\.|[^"\\])*", attempt 1\): no\. See node_modules\/storefront-webhooks\/docs\/operate\.md#handler-failed$/,
    );
  });

  test.each([
    ['an error that is its own cause', () => Object.assign(new Error('a'), { cause: 'self' })],
    [
      'a stack that throws',
      () =>
        Object.defineProperty(new Error('a'), 'stack', {
          get: () => {
            throw new Error('no');
          },
        }),
    ],
  ])('if it is %s', async (_, make) => {
    const error = make();
    if (error.cause === 'self') error.cause = error;
    await fail(error);
    expect(told()[0]).toContain('Error: a');
    expect(told()[0]?.length).toBeLessThan(5000);
  });

  test('with the parts of an aggregate error, codes, and the names of other objects', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    await fail(new AggregateError([refused, 'a text'], 'All were rejected.'));
    expect(told()[0]).toMatch(
      /AggregateError: All were rejected, at .*; caused by Error: connect \(ECONNREFUSED\), at .*; caused by a text\. See node_modules\/storefront-webhooks\/docs\//,
    );
    await fail({ code: 5, email: 'buyer@example.com' });
    expect(told()[1]).toMatch(
      /: an object that is not an Error: { code, email }\. See node_modules\/storefront-webhooks\/docs\//,
    );
  });

  test('with the order and the attempt after a timeout', async () => {
    const receiver = shop({ timeout: 10 }).on('order:paid', () => new Promise(() => {}));
    await deliver(receiver, paidOrder());
    expect(told()).toEqual([
      expect.stringMatching(
        /"whl_1" \("order:paid", order "ord_1", attempt 1\): .* longer than 10 ms/,
      ),
    ]);
  });

  test('even if the hook for it throws', async () => {
    const hooks = {
      onError() {
        throw new Error('the hook is broken');
      },
    };
    const receiver = shop({ hooks }).on('order:paid', async () => {
      throw new Error('out of keys');
    });
    await deliver(receiver, paidOrder());
    expect(told().join()).toMatch(/the hook is broken.*out of keys/);
  });

  test('ten times a minute for each handler, and then counted', async () => {
    holdTime();
    const receiver = await fail(new Error('no'));
    for (let sent = 0; sent < 99; sent++) await deliver(receiver, paidOrder(), { id: `${sent}` });
    expect(told()).toHaveLength(10);
    vi.advanceTimersByTime(MINUTE_MS + 1);
    expect(told()[10]).toContain(
      '90 more errors in the handler "order:paid" within a minute, the latest',
    );
  });

  test('for each of a thousand handlers, and ten times for all others', async () => {
    holdTime();
    const receiver = shop();
    for (let n = 0; n < 1020; n++)
      receiver.on('order:paid', () => Promise.reject(new Error('no stock')), { name: `h${n}` });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    expect(told()).toHaveLength(1010);
    const unread = { method: 'GET', headers: {}, body: new Uint8Array() };
    expect(await receiver.receive(unread)).toMatchObject({ status: 405 });
  });

  test('with the order for each outcome that the store could not record, also while it is down', async () => {
    holdTime();
    let isDown = false;
    const base = memoryStore();
    const down = async () => {
      if (isDown) throw new Error('it restarts');
    };
    const store = durableStore(
      () => ({
        claim: async (...args) => (await down()) ?? base.claim(...args),
        complete: async (...args) => (await down()) ?? base.complete(...args),
      }),
      base,
    );
    const receiver = shop({ store }).on('order:paid', () => {
      isDown = true;
    });
    const done = deliver(receiver, paidOrder({ id: 'ord_1' }), { id: 'whl_1' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await done).toMatchObject({ status: 200 });
    const refused = deliver(receiver, paidOrder({ id: 'ord_2' }), { id: 'whl_2' });
    await vi.advanceTimersByTimeAsync(11_000);
    expect(await refused).toMatchObject({ status: 503 });
    expect(told()).toEqual([
      expect.stringMatching(/could not grant the claim/),
      expect.stringMatching(
        /^storefront-webhooks: error for delivery "whl_1" \("order:paid", order "ord_1"\): .*outcome_unrecorded/,
      ),
    ]);
    const closed = receiver.close({ timeoutMs: 0 });
    await vi.advanceTimersByTimeAsync(1_000);
    await closed;
  });

  test('in one line for all deliveries while the store is down', async () => {
    holdTime();
    const down = async () => {
      throw new Error('database or disk is full');
    };
    const store = durableStore(() => ({ claim: down, purge: down }));
    const receiver = shop({ store }).on('*', () => {});
    const sent = Array.from({ length: 20 }, (_, id) =>
      deliver(receiver, paidOrder(), { id: `${id}` }),
    );
    await vi.advanceTimersByTimeAsync(5_000);
    for (const reply of await Promise.all(sent)) expect(reply).toMatchObject({ status: 503 });
    expect(told()).toEqual([expect.stringMatching(/could not grant the claim.*disk is full/)]);
  });
});

describe('a warning is logged to stderr for', () => {
  test('a parked order, with the next step', async () => {
    const store = durableStore();
    const receiver = shop({ store, hooks: { onError() {} } }).on('order:paid', async () => {
      throw new Error('no');
    });
    const delivery = await sealedOf(paidOrder());
    await receiver.dispatch(delivery, { lastAttempt: true });
    expect(told()).toEqual([
      expect.stringContaining('delivery "whl_1" ("order:paid", order "ord_1") is parked'),
    ]);
    expect(told()[0]).toContain('store.list()');
    // A retry logs the same.
    await deliver(receiver, paidOrder());
    expect(told()).toHaveLength(2);
  });

  test('a delivery out of a queue that does not fit its event, with what does not fit', async () => {
    const receiver = shop({ store: durableStore() }).on('order:paid', () => {});
    await receiver.dispatch(await sealedOf(paidOrder({ status: 56 })));
    expect(told()).toEqual([
      'storefront-webhooks: delivery "whl_1" ("order:paid", order "ord_1") is parked: the store keeps it. ' +
        'Look at: status is 56 (refunded), and paidStatuses are [100]. List it with npx storefront-webhooks ' +
        'dead list or store.list(). Run it again with receiver.redrive(). ' +
        'See node_modules/storefront-webhooks/docs/operate.md#parked',
    ]);
  });

  test('a parked order of which one handler has finished', async () => {
    const receiver = shop({ store: durableStore(), hooks: { onError() {} } })
      .on('order:paid', () => {})
      .on('order:*', () => Promise.reject(new Error('no')), { name: 'mail' });
    const result = await receiver.dispatch(await sealedOf(paidOrder()), { lastAttempt: true });
    expect(result).toMatchObject({ outcome: 'parked', ran: ['order:paid'] });
    expect(told()).toEqual([expect.stringContaining('is parked')]);
  });

  test('no delivery that onInvalid has accepted, and no copy of it', async () => {
    const receiver = shop().onInvalid(() => {});
    const send = () => deliver(receiver, paidOrder({ status: 0 }));
    for (const parked of [...(await Promise.all([send(), send()])), await send()])
      expect(parked).toMatchObject({ outcome: 'parked' });
    expect(told()).toEqual([]);
  });

  test('an event without a handler, once, with the line that would handle it', async () => {
    const receiver = shop().on('product:out_of_stock', () => {});
    for (const id of ['1', '2']) await deliver(receiver, paidOrder(), { id });
    expect(told()).toEqual([
      'storefront-webhooks: no handler for the event "order:paid": it is answered 200 and not sent ' +
        'again. To handle it: .onPaid(handler). See node_modules/storefront-webhooks/docs/operate.md#unhandled',
    ]);
  });

  test('an event that a wildcard does not cover because it is unknown', async () => {
    const receiver = shop()
      .on('*', () => {})
      .on('order:*', () => {});
    for (const id of ['1', '2']) {
      await deliver(receiver, paidOrder(), { event: 'order:disputed', id });
    }
    expect(told()).toHaveLength(1);
    expect(told()[0]).toContain("'*' and families such as 'order:*' cover the known events only.");
    expect(told()[0]).toContain('.onUnknown(handler)');
  });

  test('at most twenty events that senders make up', async () => {
    const receiver = shop();
    for (let sent = 0; sent < 50; sent++)
      await deliver(receiver, paidOrder(), { event: `e${sent}` });
    expect(told()).toHaveLength(21);
    expect(told()[20]).toContain('They are not logged');
    // The invented events cannot hide a known event.
    await deliver(receiver, paidOrder());
    expect(told()[21]).toContain('.onPaid(handler)');
  });

  test('each of these events without changing the answer, even if the console throws', async () => {
    const broken = () => {
      throw new Error('no console');
    };
    vi.spyOn(console, 'error').mockImplementation(broken);
    vi.spyOn(console, 'warn').mockImplementation(broken);
    const receiver = shop().on('order:paid', async () => {
      throw new Error('no');
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500 });
    expect(await deliver(receiver, paidOrder(), { secret: 'wrong' })).toMatchObject({
      status: 401,
    });
    await receiver.close();
  });

  test('a hook that throws, at most ten times a minute', async () => {
    const hooks = {
      onRejected() {
        throw new Error('broken');
      },
    };
    const receiver = shop({ hooks });
    for (let sent = 0; sent < 100; sent++)
      await deliver(receiver, paidOrder(), { secret: 'wrong' });
    expect(told()).toHaveLength(10);
  });

  test('a lost lease', async () => {
    const store = durableStore((inner) => ({
      complete: async (key, fence, keepMs) => {
        await inner.complete(key, fence, keepMs);
        return false;
      },
    }));
    await deliver(
      shop({ store }).on('order:paid', () => {}),
      paidOrder(),
    );
    expect(told()).toEqual([expect.stringContaining('The lease has expired.')]);
  });
});

async function sealedOf(payload: Record<string, unknown>) {
  const jobs: Parameters<ReturnType<typeof shop>['dispatch']>[0][] = [];
  const enqueue = async (delivery: (typeof jobs)[number]) => {
    jobs.push(delivery);
    return { id: '1' };
  };
  await deliver(shop({ queue: { durable: true, enqueue } }), payload);
  const [job] = jobs;
  if (!job) throw new Error('Nothing was queued.');
  return job;
}

describe('the first request', () => {
  test('logs the handled events, store, queue and version', async () => {
    const named = { onError() {} };
    const receiver = shop({ headerPrefix: 'X-Brand-', hooks: named }).on('order:*', () => {});
    for (let sent = 0; sent < 2; sent++) await deliver(receiver, paidOrder());
    expect(lines.filter((line) => line.includes('is in use'))).toEqual([
      `storefront-webhooks: version ${version} is in use. The receiver handles order:created, order:paid, ` +
        'order:updated; headers: X-Brand-*; store: memory; no queue.',
    ]);
    // Another receiver with the same configuration logs nothing.
    const same = shop({ headerPrefix: 'X-Brand-' }).on('order:*', () => {});
    await deliver(same, paidOrder());
    expect(lines.filter((line) => line.includes('is in use'))).toHaveLength(1);
  });
});

test('on Workers, lines that are not problems are logged as information', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const info: string[] = [];
  vi.spyOn(console, 'info').mockImplementation((line: string) => void info.push(line));
  const receiver = shop({ debug: true, headerPrefix: 'X-Worker-' }).on('order:paid', () => {});
  const { body } = await deliver(receiver, paidOrder());
  expect(body).toContain('rejected');
  expect(info).toEqual([
    expect.stringContaining('is in use. The receiver handles order:paid; headers: X-Worker-*'),
    expect.stringContaining('rejected with 401'),
  ]);
  expect(lines).toEqual([expect.stringContaining('rejected a delivery because of the signature')]);
});

describe('debug', () => {
  test('logs every delivery with its outcome and duration', async () => {
    const receiver = shop({ debug: true }).on('order:paid', () => {});
    for (const id of ['1', '1', '2']) await deliver(receiver, paidOrder(), { id });
    await deliver(receiver, paidOrder(), { secret: 'another secret' });
    expect(told().slice(0, 4)).toEqual([
      expect.stringMatching(
        /"1" \("order:paid", order "ord_1"\): handled in [\d.]+ ms, attempt 1, done: order:paid$/,
      ),
      expect.stringMatching(/"1" \("order:paid", order "ord_1"\): duplicate in [\d.]+ ms$/),
      expect.stringMatching(/"2" .* handled in /),
      expect.stringMatching(/"whl_1" \("order:paid"\): rejected with 401 signature_invalid\. /),
    ]);
  });

  test.each([
    ['storefront-webhooks', true],
    ['express:*, storefront-webhooks', true],
    ['*', true],
    ['express:*', false],
    ['', false],
  ])('is on if DEBUG is %j: %s', async (value, isOn) => {
    vi.stubEnv('DEBUG', value);
    const receiver = shop().on('order:paid', () => {});
    vi.unstubAllEnvs();
    await deliver(receiver, paidOrder());
    expect(told()).toHaveLength(isOn ? 1 : 0);
  });
});

test('the message of a schema of the user is not logged, because it may quote the payload', async () => {
  const issues = [{ message: 'buyer@example.com is blocked', path: ['email'] }];
  const schema = {
    '~standard': { version: 1, vendor: 'mine', validate: () => ({ issues }) },
  } as const;
  const receiver = createReceiver({ secret: SECRET, events: { 'shop:greeted': schema } });
  await deliver(receiver, { id: '1' }, { event: 'shop:greeted' });
  expect(told().join()).toContain('Look at: the payload');
  expect(told().join()).not.toContain('buyer@example.com');
});
