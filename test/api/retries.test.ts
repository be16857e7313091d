import { getEventListeners } from 'node:events';
import { type ApiError, type ClientOptions, createClient } from 'storefront-webhooks/api';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { breakOff, json, type Reply, startProvider } from './provider.js';

const provider = await startProvider();
afterAll(() => provider.stop());
beforeEach(() => provider.answers());

const connect = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: provider.origin, auth: { accessToken: 'tok_1' }, ...options });

const client = connect();
const ENTRY = { id: 'bl_1', blacklist_type: 1, blocked_data: 'thief@example.com' };
const ORDER = { id: 'ord_1', status: 100, email: 'buyer@example.com' };
const newEntry = { blacklist_type: 1, blocked_data: 'thief@example.com' };

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

/** Ends the connection in the middle of a body. */
const breakOffLate: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"id":', () => response.destroy());
};

/** Answers nothing, or nothing more. */
const fallSilent: Reply = () => {};
const fallSilentLate: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"id":');
};

const FAULTS: [string, Reply, Partial<ApiError>][] = [
  ['429', json(429, { message: 'slow' }), { code: 'rate_limited', status: 429 }],
  ['503', json(503, { message: 'later' }), { code: 'unavailable', status: 503 }],
  ['a connection that breaks', breakOff, { code: 'unreachable' }],
  ['a connection that breaks in the body', breakOffLate, { code: 'unreachable' }],
];

describe.each(['GET', 'PUT', 'DELETE'] as const)('a %s', (method) => {
  const { call, done, gives } = CALLS[method];

  test.each(FAULTS)('is tried again after %s', async (_, fault) => {
    provider.answers(fault, done);
    expect(await call()).toEqual(gives);
    expect(provider.received).toHaveLength(2);
    // Each time the same.
    const sent = provider.received.map(({ at: _, ...request }) => JSON.stringify(request));
    expect(new Set(sent).size).toBe(1);
  });

  test('is tried three times, and no more', async () => {
    provider.answers(json(503, { message: 'Offline.' }));
    await expect(call()).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Offline. See docs/errors.md#api-unavailable',
    });
    expect(provider.received).toHaveLength(3);
  });
});

describe('a POST', () => {
  test.each(FAULTS)('is never sent twice, not after %s', async (_, fault, error) => {
    provider.answers(fault, CALLS.POST.done);
    await expect(CALLS.POST.call()).rejects.toMatchObject(error);
    expect(provider.received).toHaveLength(1);
  });

  test('without an answer says that it may have been done', async () => {
    provider.answers(breakOff);
    await expect(CALLS.POST.call()).rejects.toThrow('It may have been done all the same');
  });

  test('is not sent twice after a time-out, either', async () => {
    provider.answers(fallSilent);
    const { blacklist } = connect({ timeout: 100 });
    await expect(blacklist.create(newEntry)).rejects.toMatchObject({ code: 'timed_out' });
    expect(provider.received).toHaveLength(1);
  });
});

test.each([400, 401, 403, 404, 406, 500, 502, 504])(
  'a GET is not tried again after %d',
  async (status) => {
    provider.answers(json(status, { message: 'no' }));
    await expect(client.orders.get('ord_1')).rejects.toMatchObject({ status });
    expect(provider.received).toHaveLength(1);
  },
);

test('with retries: 0, nothing is tried again', async () => {
  provider.answers(json(503));
  await expect(connect({ retries: 0 }).orders.get('ord_1')).rejects.toMatchObject({ status: 503 });
  expect(provider.received).toHaveLength(1);
});

describe('the pauses', () => {
  /** How long after one another the requests to a path came, in milliseconds. */
  function pauses(path = '/api/v2/orders/ord_1'): number[] {
    const times = provider.received.filter(({ url }) => url === path).map(({ at }) => at);
    return times.slice(1).map((at, index) => at - (times[index] ?? 0));
  }

  // Timers may fire a little early.
  const EARLY = 5;

  test('grow, and are spread', async () => {
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
    // A date has no fractions of a second.
    ['a date', () => at(3_000), 1_000],
  ])('are not shorter than Retry-After says in %s', async (_, value, ms) => {
    provider.answers(json(429, {}, { 'Retry-After': value() }), json(200, ORDER));
    await client.orders.get('ord_1');
    expect(pauses()).toEqual([expect.any(Number)]);
    expect(pauses()[0]).toBeGreaterThanOrEqual(ms + 250 - EARLY);
  });

  test.each([
    ['is unreadable', 'soon'],
    ['is in the past', 'Mon, 01 Jan 2024 00:00:00 GMT'],
    ['is zero', '0'],
  ])('are the usual ones where Retry-After %s', async (_, value) => {
    provider.answers(json(503, {}, { 'Retry-After': value }), json(200, ORDER));
    await client.orders.get('ord_1');
    expect(pauses()[0]).toBeGreaterThanOrEqual(250 - EARLY);
  });

  test('are never longer than a minute: who asks for more is told to the caller', async () => {
    provider.answers(json(429, { message: 'Tomorrow.' }, { 'Retry-After': '86400' }));
    await expect(client.orders.get('ord_1')).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 86_400_000,
    });
    expect(provider.received).toHaveLength(1);
  });
});

describe('a provider that falls silent', () => {
  const impatient = connect({ timeout: 150, retries: 1 });

  test.each([
    ['at once', fallSilent],
    ['in the middle of the body', fallSilentLate],
  ])('%s is tried again, and then given up', async (_, reply) => {
    provider.answers(reply);
    await expect(impatient.orders.get('ord_1')).rejects.toMatchObject({
      code: 'timed_out',
      status: undefined,
      operation: 'orders.get',
      message: `${provider.origin} gave no whole answer in 2 tries: it took longer than 150 ms. Look at baseUrl, and whether the storefront is up. See docs/errors.md#api-timed_out`,
    });
    expect(provider.received).toHaveLength(2);
  });

  test('is given up even where fetch does not heed its signal', async () => {
    const deaf = connect({ timeout: 50, retries: 0, fetch: () => new Promise(() => {}) });
    await expect(deaf.orders.get('ord_1')).rejects.toMatchObject({ code: 'timed_out' });
  });
});

test('an address where nobody listens is unreachable, and the error says why', async () => {
  const origin = 'http://127.0.0.1:2';
  const nobody = connect({ baseUrl: origin, retries: 1 });
  await expect(nobody.orders.get('ord_1')).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining(`${origin} gave no whole answer in 2 tries: ECONNREFUSED.`),
  });
});

describe('a signal', () => {
  const reason = new Error('changed my mind');

  test('that has fired before keeps the call from being sent', async () => {
    const signal = AbortSignal.abort(reason);
    await expect(client.orders.get('ord_1', { signal })).rejects.toBe(reason);
    expect(provider.received).toEqual([]);
  });

  test.each([
    ['the answer', fallSilent, 100],
    ['the rest of the answer', fallSilentLate, 100],
    ['the next try', json(429, {}, { 'Retry-After': '30' }), 100],
  ])('ends the wait for %s', async (_, reply, ms) => {
    provider.answers(reply);
    const controller = new AbortController();
    const call = client.orders.get('ord_1', { signal: controller.signal });
    setTimeout(() => controller.abort(reason), ms);
    const startedAt = performance.now();
    await expect(call).rejects.toBe(reason);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(provider.received).toHaveLength(1);
  });

  test('of a whole program is let go of after each call', async () => {
    provider.answers(json(503), json(200, ORDER));
    const { signal } = new AbortController();
    await client.orders.get('ord_1', { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
