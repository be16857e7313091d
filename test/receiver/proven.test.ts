import {
  createReceiver,
  type HandOff,
  type KeyBy,
  memoryStore,
  type ReceiverOptions,
  type SealedDelivery,
  type SecretFunction,
  seal,
} from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

/** The jobs of a queue, after a round trip through JSON. */
let jobs: SealedDelivery[] = [];
const queue: HandOff = {
  durable: true,
  enqueue: async (delivery, { key }) => {
    const { body, ...rest } = delivery;
    jobs.push({ ...JSON.parse(JSON.stringify(rest)), body });
    return { id: key };
  },
};

const handler = vi.fn();
const onError = vi.fn();
let store = durableStore();

beforeEach(() => {
  jobs = [];
  store = durableStore();
  vi.resetAllMocks();
});

function makeWorker(options: Partial<ReceiverOptions> = {}) {
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onError }, ...options });
  return receiver.on('order:paid', handler);
}

async function queued(
  payload = paidOrder(),
  { secret = SECRET, keyBy = 'delivery' }: { secret?: string; keyBy?: KeyBy } = {},
) {
  await deliver(createReceiver({ secret, keyBy, queue }), payload, { secret });
  const job = jobs.at(-1);
  if (!job) throw new Error('Nothing was queued.');
  return job;
}

const dead = () => store.list({ state: 'dead', limit: 9 });

describe('a delivery from a queue', () => {
  const forged = new TextEncoder().encode(JSON.stringify(paidOrder({ id: 'never signed' })));

  test.each<[string, (job: SealedDelivery) => SealedDelivery]>([
    ['another body', (job) => ({ ...job, body: forged })],
    ['no signature', ({ proof, ...job }) => job],
    ['an empty signature', (job) => ({ ...job, proof: '' })],
    ['an invalid signature', (job) => ({ ...job, proof: 'signed, truly' })],
    ['the signature of another secret', (job) => ({ ...job, proof: sign(job.body, 'another') })],
    ['an invalid proof in JSON', (job) => ({ ...job, proof: '{"signature":1}' })],
  ])('with %s is parked, and its handlers do not run', async (_, change) => {
    const worker = makeWorker();
    const genuine = await queued();
    const job = change(genuine);
    expect(await worker.dispatch(job)).toMatchObject({ outcome: 'parked' });
    expect(handler).not.toHaveBeenCalled();
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'delivery_unproven' });
    const [kept] = await dead();
    expect(kept).toMatchObject({
      body: job.body,
      error: expect.stringMatching(/could not be verified/),
    });
    // The genuine one is still handled.
    expect(await worker.dispatch(genuine)).toMatchObject({ outcome: 'handled' });
    // A redrive does not run the forged one either.
    if (kept) expect(await worker.redrive(kept)).toMatchObject({ outcome: 'parked' });
    expect(handler).toHaveBeenCalledOnce();
    expect(await dead()).toHaveLength(1);
  });

  test('is rejected if the store cannot park it', async () => {
    const worker = makeWorker({ store: memoryStore() });
    const { proof, ...job } = await queued();
    expect(await worker.dispatch(job)).toMatchObject({ code: 'signature_invalid' });
    expect(handler).not.toHaveBeenCalled();
  });

  test('cannot use up the key of another delivery', async () => {
    const worker = makeWorker();
    const one = await queued(paidOrder({ id: 'ord_1' }));
    const other = await queued(paidOrder({ id: 'ord_2' }));
    expect(await worker.dispatch({ ...one, key: other.key })).toMatchObject({ key: one.key });
    expect(await worker.dispatch(other)).toMatchObject({ outcome: 'handled', key: other.key });
    expect(await worker.dispatch(one)).toMatchObject({ outcome: 'duplicate' });
  });

  test.each(['content', 'id'] as const)('gets the key of its worker (keyBy: %s)', async (keyBy) => {
    const job = await queued();
    const worker = makeWorker({ keyBy });
    const { key } = await queued(paidOrder(), { keyBy });
    expect(await worker.dispatch(job)).toMatchObject({ outcome: 'handled', key });
    expect(await worker.dispatch({ ...job, key })).toMatchObject({ outcome: 'duplicate' });
  });

  test('cannot use up its key with a made-up time of arrival', async () => {
    const worker = makeWorker({ maxAge: 3_600_000 });
    const job = await queued(paidOrder({ updated_at: new Date().toISOString() }));
    const late = { ...job, receivedAt: Date.now() + 20 * 3_600_000 };
    expect(await worker.dispatch(late, { lastAttempt: true })).toMatchObject({ outcome: 'parked' });
    expect(await worker.dispatch(job)).toMatchObject({ outcome: 'handled' });
  });

  test('that is forged does not block the genuine one', async () => {
    const job = await queued(paidOrder(), { secret: 'the old one' });
    const worker = makeWorker();
    for (const proof of ['x', job.proof]) await worker.dispatch({ ...job, proof });
    const until = new Date(Date.now() + 60_000);
    const knows = makeWorker({ retiredSecrets: [{ secret: 'the old one', until }] });
    const outcomes = [];
    for (const kept of await dead()) outcomes.push(await knows.redrive(kept));
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['handled', 'parked']);
  });

  test.each([
    ['is very long', 'x'.repeat(15_000)],
    ['no store accepts', 'whl_\0\ud800'],
  ])('keeps its key if its id %s', async (_, id) => {
    const handled = makeWorker();
    await deliver(createReceiver({ secret: SECRET, queue }), paidOrder(), { id });
    const [job] = jobs;
    expect(job?.id.length).toBeLessThanOrEqual(200);
    if (job) expect(await handled.dispatch(job)).toMatchObject({ key: job.key });
    expect(await deliver(handled, paidOrder(), { id })).toMatchObject({ outcome: 'duplicate' });
  });

  test('may be signed with a retired secret until its time ends', async () => {
    const job = await queued(paidOrder(), { secret: 'the old one' });
    const hour = 3_600_000;
    const retired = (ms: number) => [
      { secret: 'the old one', until: new Date(Date.now() + ms) },
      { secret: 'an older one', until: new Date(Date.now() + hour).toISOString() },
    ];
    const late = makeWorker({ retiredSecrets: retired(-1) });
    expect(await late.dispatch(job)).toMatchObject({ outcome: 'parked' });
    const withTimeout = makeWorker({ retiredSecrets: retired(hour) });
    expect(await withTimeout.dispatch(job)).toMatchObject({ outcome: 'handled' });
    // A request that is signed with the retired secret is rejected.
    const sent = deliver(withTimeout, paidOrder({ id: 'new' }), { secret: 'the old one' });
    expect(await sent).toMatchObject({ status: 401 });
  });

  test('is parked if the time of its retired secret ends while the worker runs', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const old = { secret: 'the old one' };
    const until = new Date(Date.now() + 60_000);
    const worker = makeWorker({ retiredSecrets: [{ ...old, until }] });
    const first = await queued(paidOrder({ id: 'a' }), old);
    const second = await queued(paidOrder({ id: 'b' }), old);
    expect(await worker.dispatch(first)).toMatchObject({ outcome: 'handled' });
    vi.setSystemTime(until);
    expect(await worker.dispatch(second)).toMatchObject({ outcome: 'parked' });
    expect(handler).toHaveBeenCalledOnce();
  });

  test('can be redriven after its secret is known, or with vouched: true', async () => {
    const jobs = [paidOrder({ id: 'a' }), paidOrder({ id: 'b' })];
    for (const payload of jobs) {
      await makeWorker().dispatch(await queued(payload, { secret: 'the old one' }));
    }
    const [first, second] = await dead();
    const until = new Date(Date.now() + 60_000);
    const knows = makeWorker({ retiredSecrets: [{ secret: 'the old one', until }] });
    if (first) expect(await knows.redrive(first)).toMatchObject({ outcome: 'handled' });
    if (second) {
      const vouched = await makeWorker().redrive(second, { vouched: true });
      expect(vouched).toMatchObject({ outcome: 'handled' });
    }
    expect(handler).toHaveBeenCalledTimes(2);
    expect(await dead()).toEqual([]);
  });
});

describe("with a secret function, a queue's worker", () => {
  const shops: Record<string, string> = { '/one': 'the first secret', '/two': 'the second secret' };
  const asked: unknown[] = [];
  const options = {
    secret: ({
      url = '',
      headers,
      source,
    }: {
      url: string | undefined;
      headers: object;
      source: string;
    }) => {
      asked.push([source, url, Object.keys(headers).sort()]);
      const secret = shops[url];
      return secret ? { secret, scope: url } : null;
    },
  };

  async function queuedFor(url: string) {
    const web = createReceiver({ ...options, queue });
    const headers = { authorization: 'Basic c2VjcmV0', cookie: 'a=b', 'x-shop': url };
    await deliver(web, paidOrder(), { url, headers, secret: shops[url] ?? '' });
    const job = jobs.at(-1);
    if (!job) throw new Error('Nothing was queued.');
    return job;
  }

  test('calls it again with the original request', async () => {
    const job = await queuedFor('/one');
    expect(job.proof).not.toMatch(/authorization|cookie|c2VjcmV0/);
    asked.length = 0;
    expect(await makeWorker(options).dispatch(job)).toMatchObject({ outcome: 'handled' });
    const names = ['x-service-event', 'x-service-signature', 'x-service-webhook', 'x-shop'];
    expect(asked).toEqual([['queue', '/one', names]]);
  });

  test('passes Fetch headers if the request had them', async () => {
    const secret: SecretFunction = ({ headers }) => {
      const scope = 'get' in headers && typeof headers.get === 'function' && headers.get('x-shop');
      return scope ? { secret: SECRET, scope } : null;
    };
    const body = new TextEncoder().encode(JSON.stringify(paidOrder()));
    const headers = new Headers({
      'x-service-event': 'order:paid',
      'x-service-signature': sign(body, SECRET),
      'x-shop': 'one',
    });
    await createReceiver({ secret, queue }).receive({ method: 'POST', headers, body });
    const [job] = jobs;
    if (job)
      expect(await makeWorker({ secret }).dispatch(job)).toMatchObject({ outcome: 'handled' });
    expect(handler).toHaveBeenCalledOnce();
  });

  test('does not accept a delivery of one shop for another, nor of a removed shop', async () => {
    const job = await queuedFor('/one');
    const worker = makeWorker(options);
    expect(await worker.dispatch({ ...job, scope: '/two' })).toMatchObject({ outcome: 'parked' });
    const proof = job.proof?.replace('"/one"', '"/gone"') ?? '';
    expect(await worker.dispatch({ ...job, proof })).toMatchObject({ outcome: 'parked' });
    expect(handler).not.toHaveBeenCalled();
  });

  test('retries a job if it throws, and parks it in the last attempt', async () => {
    const job = await queuedFor('/one');
    const secret = () => Promise.reject(new Error('the database is down'));
    const worker = makeWorker({ secret });
    await expect(worker.dispatch(job)).rejects.toThrow('the database is down');
    expect(await worker.dispatch(job, { lastAttempt: true })).toMatchObject({ outcome: 'parked' });
    const [kept] = await dead();
    // While the function throws, the delivery stays, and redrive rejects.
    if (kept) await expect(worker.redrive(kept)).rejects.toThrow('the database is down');
    expect(await dead()).toHaveLength(1);
    const well = makeWorker(options);
    if (kept) expect(await well.redrive(kept)).toMatchObject({ outcome: 'handled' });
    expect(await dead()).toEqual([]);
  });
});

test('a redriven delivery returns to the queue with a proof for its worker', async () => {
  const sender = makeWorker({ secret: 'the old one' });
  handler.mockRejectedValueOnce(new Error('no'));
  const job = await queued(paidOrder(), { secret: 'the old one' });
  expect(await sender.dispatch(job, { lastAttempt: true })).toMatchObject({ outcome: 'parked' });
  const [kept] = await dead();
  const redriving: HandOff = { ...queue, redrive: queue.enqueue };
  const web = makeWorker({ queue: redriving });
  if (kept) expect(await web.redrive(kept)).toMatchObject({ outcome: 'queued' });
  const again = jobs.at(-1);
  // The secret of the delivery is not known any more, but the operator vouches for the delivery.
  if (again) expect(await makeWorker().dispatch(again)).toMatchObject({ outcome: 'handled' });
  expect(await dead()).toEqual([]);
});

test('an invalid delivery that has become valid is done after a redrive through the queue', async () => {
  const job = await queued(paidOrder({ status: 54 }));
  expect(await makeWorker().dispatch(job, { lastAttempt: true })).toMatchObject({
    outcome: 'parked',
  });
  const [kept] = await dead();
  const redriving: HandOff = { ...queue, redrive: queue.enqueue };
  const mended = makeWorker({ queue: redriving, paidStatuses: [54, 100] });
  if (kept) expect(await mended.redrive(kept)).toMatchObject({ outcome: 'queued' });
  const again = jobs.at(-1);
  if (again)
    expect(await mended.dispatch(again)).toMatchObject({ outcome: 'handled', key: again.key });
  expect(await dead()).toEqual([]);
  expect(await store.count({ state: 'failing' })).toBe(0);
});

test('the result of verify is trusted, and can be sealed and proven', async () => {
  const worker = makeWorker();
  const body = new TextEncoder().encode(JSON.stringify(paidOrder()));
  const headers = {
    'x-service-event': 'order:paid',
    'x-service-webhook': 'whl_1',
    'x-service-signature': sign(body, SECRET),
  };
  const delivery = await worker.verify({ method: 'POST', headers, body });
  if (delivery.outcome === 'rejected') throw new Error(delivery.code);
  expect(await worker.dispatch(seal(delivery))).toMatchObject({ outcome: 'handled' });
  expect(await worker.dispatch(delivery)).toMatchObject({ outcome: 'duplicate' });
  const elsewhere = makeWorker({ scope: 'elsewhere' });
  await expect(elsewhere.dispatch(delivery)).rejects.toMatchObject({ code: 'scope_invalid' });
});

test('verify returns an invalid delivery only with keepInvalid', async () => {
  const worker = makeWorker();
  const body = new TextEncoder().encode(JSON.stringify(paidOrder({ status: 56 })));
  const headers = { 'x-service-event': 'order:paid', 'x-service-signature': sign(body, SECRET) };
  const request = { method: 'POST', headers, body };
  expect(await worker.verify(request)).toMatchObject({ code: 'payload_invalid', verified: true });
  const kept = await worker.verify(request, { keepInvalid: true });
  expect(kept).toMatchObject({ kind: 'invalid', payload: { status: 56 } });
});
