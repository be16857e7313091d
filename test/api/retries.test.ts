import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import {
  type ApiAttempt,
  type ApiError,
  type ClientOptions,
  createClient,
  type Fetch,
} from 'storefront-webhooks/api';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ended } from '../support/patience.js';
import { breakOff, json, type Reply, startProvider } from './provider.js';

const provider = await startProvider();
afterAll(() => provider.stop());
beforeEach(() => provider.answers());

const connect = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: provider.origin, auth: { accessToken: 'tok_1' }, ...options });

/** Shortens each pause to a tenth. The real pauses are measured below. */
function hurry(): void {
  const { setTimeout } = globalThis;
  beforeEach(() => {
    const sooner = (ms = 0) => (ms > 200 && ms < 2000 ? ms / 10 : ms);
    // The client of Node gives its timers an argument.
    vi.stubGlobal('setTimeout', (done: () => void, ms?: number, ...args: []) =>
      setTimeout(done, sooner(ms), ...args),
    );
  });
  afterEach(() => vi.unstubAllGlobals());
}

const client = connect();
const ENTRY = { id: 'bl_1', blacklist_type: 1, blocked_data: 'thief@example.com' };
const ORDER = { id: 'ord_1', status: 100, email: 'buyer@example.com' };
const newEntry = { blacklist_type: 1, blocked_data: 'thief@example.com' };

/** An address on which nothing listens. */
const NOBODY = 'http://127.0.0.1:2';

const CALLS = {
  GET: { call: () => client.blacklist.get('bl_1'), done: json(200, ENTRY), gives: ENTRY },
  PUT: {
    call: () => client.blacklist.update('bl_1', newEntry),
    done: json(200, ENTRY),
    gives: ENTRY,
  },
  DELETE: { call: () => client.blacklist.delete('bl_1'), done: json(204), gives: undefined },
  POST: { call: () => client.blacklist.create(newEntry), done: json(201, ENTRY), gives: ENTRY },
};

/** Closes the connection in the middle of a body. */
const breakOffLate: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"id":', () => response.destroy());
};

/** Sends no response, and keeps the connection open. The second one stops in the middle of the body. */
const fallSilent: Reply = () => {};
const fallSilentLate: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"id":');
};

const slow = json(429, { message: 'slow' });
const FAULTS: [string, Reply, Partial<ApiError>][] = [
  ['500', json(500, { message: 'oh' }), { code: 'server_failed', status: 500 }],
  ['503', json(503, { message: 'later' }), { code: 'unavailable', status: 503 }],
  ['a connection that breaks', breakOff, { code: 'unreachable' }],
  ['a connection that breaks in the body', breakOffLate, { code: 'unreachable' }],
];

describe.each(['GET', 'PUT', 'DELETE'] as const)('a %s', (method) => {
  const { call, done, gives } = CALLS[method];
  hurry();

  test.each<[string, Reply, ...unknown[]]>([...FAULTS, ['429', slow]])(
    'is retried after %s',
    async (_, fault) => {
      provider.answers(fault, done);
      expect(await call()).toEqual(gives);
      expect(provider.received).toHaveLength(2);
      // Each request is the same.
      const sent = provider.received.map(({ at: _, ...request }) => JSON.stringify(request));
      expect(new Set(sent).size).toBe(1);
    },
  );

  test('is tried three times, and no more', async () => {
    provider.answers(json(503, { message: 'Offline.' }));
    await expect(call()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^blacklist\.\w+: Offline\. See \S+#api-unavailable$/),
    });
    expect(provider.received).toHaveLength(3);
  });
});

describe('a POST', () => {
  hurry();

  test.each(FAULTS)(
    'is not retried after %s, because the provider may have carried it out',
    async (_, fault, error) => {
      provider.answers(fault, CALLS.POST.done);
      await expect(CALLS.POST.call()).rejects.toMatchObject(error);
      expect(provider.received).toHaveLength(1);
    },
  );

  test('without a response states that the provider may have carried it out', async () => {
    provider.answers(breakOff);
    await expect(CALLS.POST.call()).rejects.toThrow('The request may have been carried out');
  });

  test.each(['ETIMEDOUT', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT'])(
    'is not retried after %s, which also ends connections that have sent everything',
    async (code) => {
      const cause = Object.assign(new Error(`read ${code}`), { code });
      const ended = vi.fn<Fetch>(() => Promise.reject(new TypeError('fetch failed', { cause })));
      const { blacklist } = connect({ fetch: ended });
      const doubt = expect.stringContaining('may have been carried out');
      await expect(blacklist.create(newEntry)).rejects.toMatchObject({ message: doubt });
      expect(ended).toHaveBeenCalledOnce();
    },
  );

  test('is not retried after a timeout either', async () => {
    const silent = vi.fn<Fetch>(() => new Promise(() => {}));
    const { blacklist } = connect({ timeout: 50, fetch: silent });
    await expect(blacklist.create(newEntry)).rejects.toMatchObject({ code: 'timed_out' });
    expect(silent).toHaveBeenCalledOnce();
  });

  test('is retried after 429, because the provider did not carry it out', async () => {
    provider.answers(slow, CALLS.POST.done);
    expect(await CALLS.POST.call()).toEqual(ENTRY);
    expect(provider.received).toHaveLength(2);
  });

  test('is retried after a refused connection, because nothing arrived', async () => {
    provider.answers(CALLS.POST.done);
    let tries = 0;
    const { blacklist } = connect({
      fetch: (url, init) => fetch(tries++ === 0 ? url.replace(provider.origin, NOBODY) : url, init),
    });
    expect(await blacklist.create(newEntry)).toEqual(ENTRY);
    expect(provider.received).toHaveLength(1);
  });

  test.each<[string, Fetch]>([
    ['ECONNREFUSED', (url, init) => fetch(url.replace(provider.origin, NOBODY), init)],
    ['ENOTFOUND', () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }))],
    // The error of Deno.
    [
      'no connection was made',
      () => {
        const cause = new Error('error sending request for url: client error (Connect): tcp …');
        return Promise.reject(new TypeError('fetch failed', { cause }));
      },
    ],
  ])(
    'that never arrived states that the provider did not carry it out: %s',
    async (code, fetch) => {
      const { blacklist } = connect({ fetch, retries: 0 });
      await expect(blacklist.create(newEntry)).rejects.toMatchObject({
        code: 'unreachable',
        message: expect.stringContaining(`${code}. The request was not carried out. Check baseUrl`),
      });
    },
  );
});

describe('a GET', () => {
  hurry();

  test.each([502, 504, 520])('is retried after %d', async (status) => {
    provider.answers(json(status, '<h1>Bad gateway</h1>'), json(200, ORDER));
    expect(await client.orders.get('ord_1')).toEqual(ORDER);
  });
});

test.each([400, 401, 403, 404, 406, 501])('a GET is not retried after %d', async (status) => {
  provider.answers(json(status, { message: 'no' }));
  await expect(client.orders.get('ord_1')).rejects.toMatchObject({ status });
  expect(provider.received).toHaveLength(1);
});

test('with retries: 0, nothing is retried', async () => {
  provider.answers(json(503));
  await expect(connect({ retries: 0 }).orders.get('ord_1')).rejects.toMatchObject({ status: 503 });
  expect(provider.received).toHaveLength(1);
});

describe('the options of a call', () => {
  test("set its number of retries instead of the client's", async () => {
    provider.answers(json(503));
    await expect(client.orders.get('ord_1', { retries: 0 })).rejects.toMatchObject({ status: 503 });
    expect(provider.received).toHaveLength(1);
    provider.answers(json(503), CALLS.DELETE.done);
    await connect({ retries: 0 }).blacklist.delete('bl_1', { retries: 1 });
    expect(provider.received).toHaveLength(2);
  });

  test('set the timeout of each page of a list', async () => {
    const headers = { 'X-Total-Pages': '2' };
    const silent = vi.fn<Fetch>(async (url) =>
      url.endsWith('page=1') ? Response.json([ORDER], { headers }) : new Promise(() => {}),
    );
    const list = connect({ fetch: silent }).orders.list({ timeout: 50, retries: 0 });
    await list;
    const read = async () => {
      for await (const _ of list);
    };
    await expect(read()).rejects.toMatchObject({ code: 'timed_out' });
    expect(silent).toHaveBeenCalledTimes(2);
  });

  test.each([
    [{ timeout: 0 }, 'orders.get: the option timeout has to be milliseconds above 0'],
    [{ retries: 11 }, 'orders.get: the option retries has to be a whole number from 0 to 10'],
    [{ onAttempt: 'log' }, 'orders.get: the option onAttempt has to be a function'],
  ])('are rejected before anything is sent: %o', async (options, message) => {
    const call = client.orders.get('ord_1', options as object);
    await expect(call).rejects.toMatchObject({
      name: 'UsageError',
      code: 'option_invalid',
      message: expect.stringContaining(message),
    });
    expect(provider.received).toEqual([]);
  });
});

describe('onAttempt', () => {
  test('gets each attempt with its number, its status and the headers of the response', async () => {
    const [ofClient, ofCall]: [ApiAttempt[], ApiAttempt[]] = [[], []];
    const watched = connect({ onAttempt: (attempt) => ofClient.push(attempt) });
    provider.answers(breakOff, slow, json(200, ORDER, { 'X-RateLimit-Remaining': '7' }));
    await watched.orders.get('ord_1', { onAttempt: (attempt) => ofCall.push(attempt) });
    await watched.orders.get('ord_1');
    const about = { operation: 'orders.get', url: `${provider.origin}/api/v2/orders/ord_1` };
    const retryInMs = expect.any(Number);
    const fault = expect.stringMatching(/^\w+$/);
    expect(ofCall).toMatchObject([
      { ...about, attempt: 1, status: undefined, headers: undefined, fault, retryInMs },
      { ...about, attempt: 2, status: 429, fault: undefined, retryInMs },
      { ...about, attempt: 3, status: 200, fault: undefined, retryInMs: undefined },
    ]);
    expect(ofCall[2]?.headers?.get('x-ratelimit-remaining')).toBe('7');
    for (const { durationMs } of ofCall) expect(durationMs).toBeGreaterThan(0);
    expect(ofClient.slice(0, 3)).toEqual(ofCall);
    expect(ofClient[3]).toMatchObject({ attempt: 1, status: 200 });
  });

  test('gets an attempt whose answer is too long', async () => {
    const piece = new Uint8Array(8 << 20).fill(32);
    const onAttempt = vi.fn();
    const endless = connect({
      onAttempt,
      fetch: async () => new Response(new ReadableStream({ pull: (to) => to.enqueue(piece) })),
    });
    await expect(endless.orders.get('ord_1')).rejects.toThrow('The answer is over 64 MiB');
    const about = { attempt: 1, status: undefined, retryInMs: undefined };
    const fault = 'the answer is over 64 MiB';
    expect(onAttempt.mock.calls).toMatchObject([[{ ...about, fault }]]);
  });

  test('gets no credentials and no sent data', async () => {
    const seen: unknown[] = [];
    const watched = connect({ onAttempt: (attempt) => seen.push(attempt) });
    provider.answers(json(400, { message: 'no' }));
    await watched.blacklist.create(newEntry).catch(() => {});
    const shown = inspect(seen, { depth: 10, showHidden: true });
    expect(shown).toContain('blacklist.create');
    for (const hidden of ['tok_1', 'thief']) expect(shown).not.toContain(hidden);
  });

  test.each([
    ['throws', () => raise()],
    ['rejects', async () => raise()],
  ])('does not affect the call if it %s', async (_, onAttempt) => {
    provider.answers(CALLS.POST.done);
    expect(await connect({ onAttempt }).blacklist.create(newEntry)).toEqual(ENTRY);
  });
});

function raise(): never {
  throw new Error('oh');
}

describe('the pauses', () => {
  /** Returns the pauses between the requests to a path, in milliseconds. */
  function pauses(path = '/api/v2/orders/ord_1'): number[] {
    const times = provider.received.filter(({ url }) => url === path).map(({ at }) => at);
    return times.slice(1).map((at, index) => at - (times[index] ?? 0));
  }

  // Timers may fire a little early.
  const EARLY = 5;

  test('grow and are random', async () => {
    provider.answers(json(503));
    const ids = Array.from({ length: 10 }, (_, index) => `ord_${index}`);
    await Promise.allSettled(ids.map((id) => client.orders.get(id)));
    const all = ids.map((id) => pauses(`/api/v2/orders/${id}`));
    for (const [first = 0, second = 0] of all) {
      expect(first).toBeGreaterThanOrEqual(250 - EARLY);
      expect(second).toBeGreaterThanOrEqual(500 - EARLY);
    }
    const firsts = all.map(([first = 0]) => first);
    expect(Math.max(...firsts) - Math.min(...firsts)).toBeGreaterThan(20);
  });

  const at = (ms: number) => new Date(Date.now() + ms).toUTCString();

  test.each([
    ['seconds', () => '1', 1_000],
    ['seconds with a fraction', () => '2.5', 2_500],
    // A date has no fractions of a second.
    ['a date', () => at(3_000), 1_000],
  ])('are not shorter than Retry-After in %s', async (_, value, ms) => {
    provider.answers(json(429, {}, { 'Retry-After': value() }), json(200, ORDER));
    await client.orders.get('ord_1');
    expect(pauses()).toEqual([expect.any(Number)]);
    expect(pauses()[0]).toBeGreaterThanOrEqual(ms + 250 - EARLY);
  });

  test.each([
    ['is unreadable', 'soon'],
    ['is in the past', 'Mon, 01 Jan 2024 00:00:00 GMT'],
    ['is zero', '0'],
  ])('are the usual ones if Retry-After %s', async (_, value) => {
    provider.answers(json(503, {}, { 'Retry-After': value }), json(200, ORDER));
    await client.orders.get('ord_1');
    expect(pauses()[0]).toBeGreaterThanOrEqual(250 - EARLY);
  });

  test('are at most a minute: a longer Retry-After rejects the call', async () => {
    provider.answers(json(429, { message: 'Tomorrow.' }, { 'Retry-After': '86400' }));
    await expect(client.orders.get('ord_1')).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 86_400_000,
    });
    expect(provider.received).toHaveLength(1);
  });
});

describe('a provider that stops responding', () => {
  const impatient = connect({ timeout: 150, retries: 1 });

  test.each([
    ['at once', fallSilent],
    ['in the middle of the body', fallSilentLate],
  ])('%s is tried again, and then the call rejects', async (_, reply) => {
    provider.answers(reply);
    await expect(impatient.orders.get('ord_1')).rejects.toMatchObject({
      code: 'timed_out',
      status: undefined,
      operation: 'orders.get',
      message: `orders.get: ${provider.origin} sent no complete answer in 2 tries: it took longer than 150 ms. Check baseUrl, and whether the storefront is up. See node_modules/storefront-webhooks/docs/errors.md#api-timed_out`,
    });
    expect(provider.received).toHaveLength(2);
  });

  test('is abandoned even if fetch ignores its signal', async () => {
    const deaf = connect({ timeout: 50, retries: 0, fetch: () => new Promise(() => {}) });
    await expect(deaf.orders.get('ord_1')).rejects.toMatchObject({ code: 'timed_out' });
  });
});

test('an address on which nothing listens is unreachable, and the error has the reason', async () => {
  const nobody = connect({ baseUrl: NOBODY, retries: 1 });
  await expect(nobody.orders.get('ord_1')).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining(
      `orders.get: ${NOBODY} sent no complete answer in 2 tries: ECONNREFUSED.`,
    ),
  });
});

describe('a signal', () => {
  const reason = new Error('changed my mind');

  test('that is already aborted prevents the request', async () => {
    const signal = AbortSignal.abort(reason);
    const onAttempt = vi.fn();
    await expect(client.orders.get('ord_1', { signal, onAttempt })).rejects.toBe(reason);
    expect([provider.received, onAttempt.mock.calls]).toEqual([[], []]);
  });

  test.each([
    ['the answer', fallSilent, false],
    ['the rest of the answer', fallSilentLate, false],
    ['the next try', json(429, {}, { 'Retry-After': '30' }), true],
  ])('ends the wait for %s', async (_, reply, isTried) => {
    provider.answers(reply);
    const controller = new AbortController();
    const onAttempt = vi.fn();
    const call = client.orders.get('ord_1', { signal: controller.signal, onAttempt });
    const aborted = expect(ended(call, 'the call')).rejects.toBe(reason);
    await vi.waitFor(() => expect(provider.received).toHaveLength(1));
    if (isTried) await vi.waitFor(() => expect(onAttempt).toHaveBeenCalledOnce());
    controller.abort(reason);
    await aborted;
    expect(provider.received).toHaveLength(1);
    const fault = isTried ? undefined : 'the signal aborted the call';
    const status = isTried ? 429 : undefined;
    expect(onAttempt.mock.calls).toMatchObject([[{ attempt: 1, status, fault }]]);
    if (!isTried) expect(onAttempt.mock.calls).toMatchObject([[{ retryInMs: undefined }]]);
  });

  test('that outlives the call keeps no listener of it', async () => {
    provider.answers(json(503), json(200, ORDER));
    const { signal } = new AbortController();
    await client.orders.get('ord_1', { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
