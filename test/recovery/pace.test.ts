import { afterEach, describe, expect, test, vi } from 'vitest';
import { ended } from '../support/patience.js';
import {
  ago,
  DAY,
  ENDPOINT,
  entry,
  openShop,
  type Provided,
  provider,
  recoverFrom,
} from './provider.js';

afterEach(() => void vi.useRealTimers());

test.each([
  ['that cannot be reached', () => Promise.reject(new TypeError('fetch failed'))],
  ['that fails', () => Response.json({ message: 'Oh.' }, { status: 500 })],
])('a request to a provider %s is retried', async (_, refuse) => {
  const provided: Provided = { logs: [entry(1)] };
  const client = provider(provided);
  let refusals = 0;
  provided.onRequest = (path) => {
    if (!path.endsWith('whl_1') || refusals > 0) return undefined;
    refusals += 1;
    return refuse() as Response;
  };
  const shop = openShop();
  await recoverFrom(provided, shop, { client });
  expect(shop.delivered).toEqual(['ord_1']);
});

test('recovery waits for a provider whose certificate expires after its first answer', async () => {
  let refusals = 0;
  const onRequest = (path: string) => {
    if (path !== 'GET /webhooks/logs' || refusals > 0) return undefined;
    refusals += 1;
    throw Object.assign(new TypeError('fetch failed'), { code: 'CERT_HAS_EXPIRED' });
  };
  const shop = openShop();
  await recoverFrom({ logs: [entry(1)], onRequest }, shop);
  expect(shop.delivered).toEqual(['ord_1']);
});

test.each<[string, Record<string, string>]>([
  ['growing pauses', {}],
  ['the same pauses after a Retry-After of 0', { 'Retry-After': '0' }],
  ['the same pauses after a Retry-After in the past', { 'Retry-After': new Date(0).toUTCString() }],
])('a request is tried ten times with %s, and then recovery rejects', async (_, headers) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const askedAt: number[] = [];
  const onRequest = () => {
    askedAt.push(performance.now());
    return Response.json({ message: 'Later.' }, { status: 503, headers });
  };
  const startedAt = performance.now();
  const recovery = recoverFrom({ logs: [], onRequest }, openShop());
  const ended = expect(recovery).rejects.toMatchObject({ code: 'unavailable' });
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  await ended;
  const seconds = askedAt.map((at) => Math.round((at - startedAt) / 1_000));
  expect(seconds).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
});

test('only recovery itself repeats requests, so that it counts and limits all of them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const onRequest = (path: string) =>
    path.startsWith('GET /orders/')
      ? Response.json({ message: 'Oh.' }, { status: 500 })
      : undefined;
  const client = provider({ logs: [entry(1)], onRequest });
  const shop = openShop();
  const recovery = recoverFrom({ logs: [] }, shop, { client });
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(await recovery).toMatchObject({ complete: false, requests: client.asked.length });
  expect(client.asked.filter((path) => path === 'GET /orders/ord_1')).toHaveLength(6);
});

test('the creation of an endpoint waits as long as the provider asks, and is then tried again', async () => {
  vi.useFakeTimers();
  const provided: Provided = { logs: [], endpoints: [{ ...ENDPOINT, enabled: false }] };
  const createdAt: number[] = [];
  provided.onRequest = (path) => {
    if (path !== 'POST /webhooks/endpoints') return undefined;
    createdAt.push(performance.now());
    const init = { status: 429, headers: { 'Retry-After': '30' } };
    return createdAt.length < 5 ? Response.json({ message: 'Later.' }, init) : undefined;
  };
  const startedAt = performance.now();
  const recovery = recoverFrom(provided, openShop(), { recreateEndpoint: true });
  const done = expect(recovery).resolves.toMatchObject({ endpoint: 'recreated' });
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  await done;
  const seconds = createdAt.map((at) => Math.round((at - startedAt) / 1_000));
  expect(seconds).toEqual([0, 30, 60, 90, 120]);
});

test('a Retry-After that is longer than a timer can wait does not end early', async () => {
  const headers = { 'Retry-After': '9999999999' };
  const onRequest = () => Response.json({ message: 'Later.' }, { status: 503, headers });
  const client = provider({ logs: [], onRequest });
  const stopping = new AbortController();
  const recovery = recoverFrom({ logs: [] }, openShop(), { client, signal: stopping.signal });
  const stopped = expect(ended(recovery, 'the recovery')).rejects.toThrow('enough');
  await vi.waitFor(() => expect(client.asked).toHaveLength(1));
  stopping.abort(new Error('enough'));
  await stopped;
  expect(client.asked).toHaveLength(1);
});

test('a signal that aborts during a request rejects with its own reason', async () => {
  for (const status of [401, 503]) {
    const aborted = new AbortController();
    const onRequest = () => {
      aborted.abort(new Error('enough'));
      return Response.json({ message: 'No.' }, { status, headers: { 'Retry-After': '50' } });
    };
    const { signal } = aborted;
    const recovery = recoverFrom({ logs: [], onRequest }, openShop(), { signal });
    await expect(ended(recovery, 'the recovery')).rejects.toThrow('enough');
  }
});

test('an aborted signal prevents the first request, and a later one ends the wait for a turn', async () => {
  const client = provider({ logs: [] });
  const fired = AbortSignal.abort(new Error('before'));
  await expect(recoverFrom({ logs: [] }, openShop(), { client, signal: fired })).rejects.toThrow(
    'before',
  );
  expect(client.asked).toEqual([]);
  const waiting = new AbortController();
  setTimeout(() => waiting.abort(new Error('meanwhile')), 50);
  const { signal } = waiting;
  const recovery = recoverFrom({ logs: [] }, openShop(), { client, signal, perSecond: 0.02 });
  await expect(ended(recovery, 'the recovery')).rejects.toThrow('meanwhile');
});

describe('once recovery has read as much of the log as it needs, the request for the next page', () => {
  const HANGING: Promise<Response> = new Promise(() => {});
  const later = () => Response.json({}, { status: 503, headers: { 'Retry-After': '3600' } });

  const AT_ONCE = Number.POSITIVE_INFINITY;

  test.each<[string, number, number, () => Response | Promise<Response> | undefined]>([
    ['is not made if it waits for its turn', 0, 1, () => undefined],
    ['ends while it waits for the provider', 2, AT_ONCE, later],
    ['ends while it runs', 2, AT_ONCE, () => HANGING],
  ])('%s', async (_, made, perSecond, answer) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const old = { created_at: ago(30 * DAY), updated_at: ago(30 * DAY) };
    const logs = Array.from({ length: 80 }, (_, at) => entry(80 - at, at < 30 ? {} : old));
    let asked = 0;
    const onRequest = (path: string, _count: number, page: string | null) => {
      if (path !== 'GET /webhooks/logs' || page !== '2') return undefined;
      asked += 1;
      // Later, recovery looks for earlier deliveries in the old entries.
      return asked <= 2 ? (answer() as Response) : undefined;
    };
    const shop = openShop();
    const timersLeft = recoverFrom({ logs, onRequest }, shop, { perSecond }).then(vi.getTimerCount);
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(await ended(timersLeft, 'the recovery')).toBe(0);
    expect(shop.delivered).toHaveLength(30);
    expect(asked).toBe(made + 1);
  });
});
