import { createHash } from 'node:crypto';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import {
  type CloudflareWorkerOptions,
  cloudflareQueue,
  cloudflareWorker,
  type QueueBatch,
  type QueueMessage,
} from 'storefront-webhooks/cloudflare';
import { sign } from 'storefront-webhooks/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Dispatching } from '../../../src/queues/run-job.js';
import { contentOf, deliveryKey } from '../../../src/request/key.js';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';
import { durableStore } from '../../support/durable.js';

const NAMES = { queue: 'webhooks', deadLetterQueue: 'webhooks-dead' };
const env = {};

const order = JSON.stringify(paidOrder());

const job = (id: string) => ({
  v: 1,
  key: createHash('sha256').update(id).digest('hex'),
  scope: 'default',
  id,
  event: 'order:paid',
  receivedAt: Date.now(),
  body: btoa(order),
  proof: sign(order, SECRET),
});

function message(body: unknown, attempts = 1) {
  return { id: 'm', body, attempts, ack: vi.fn(), retry: vi.fn() };
}

function batchOf(messages: readonly QueueMessage[], queue = 'webhooks'): QueueBatch {
  return { queue, messages };
}

function delayOf({ retry }: ReturnType<typeof message>): number {
  expect(retry).toHaveBeenCalledOnce();
  return retry.mock.calls[0]?.[0].delaySeconds;
}

const gives = (result: Awaited<ReturnType<Dispatching['dispatch']>>): Dispatching => ({
  dispatch: async () => result,
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const stderr = () => vi.spyOn(console, 'error').mockImplementation(() => {});

test.each([
  ['failed', 1, [8, 15]],
  ['failed', 2, [15, 30]],
  ['failed', 10, [3840, 7680]],
  ['failed', 99, [21_600, 43_200]],
  ['busy', 1, [3, 5]],
  ['unavailable', 99, [300, 600]],
] as const)(
  'a %s delivery at attempt %i is retried after %j seconds',
  async (outcome, attempts, [from, to]) => {
    const handle = cloudflareWorker(gives({ outcome, ran: [] }), NAMES);
    const messages = Array.from({ length: 30 }, () => message(job('a'), attempts));
    await handle(batchOf(messages), env);
    const delays = messages.map(delayOf);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(from);
    expect(Math.max(...delays)).toBeLessThanOrEqual(to);
    expect(new Set(delays).size).toBeGreaterThan(1);
  },
);

test('a busy delivery is not retried before its retryAfterMs', async () => {
  const handle = cloudflareWorker(gives({ outcome: 'busy', ran: [], retryAfterMs: 9500 }), NAMES);
  const one = message(job('a'));
  await handle(batchOf([one]), env);
  expect(delayOf(one)).toBe(10);
});

test('a dead letter that cannot be parked is retried with growing pauses, and logged', async () => {
  const written = stderr();
  const receiver = createReceiver({
    secret: SECRET,
    scope: 'default',
    store: memoryStore(),
    hooks: { onError() {} },
  }).on('order:paid', () => Promise.reject(new Error('no')));
  const [first, last] = [message(job('a')), message(job('b'), 50)];
  await cloudflareWorker(receiver, NAMES)(batchOf([first, last], 'webhooks-dead'), env);
  expect(delayOf(first)).toBeLessThanOrEqual(60);
  expect(delayOf(last)).toBeGreaterThanOrEqual(1800);
  expect(delayOf(last)).toBeLessThanOrEqual(3600);
  expect(written.mock.calls.flat()).toEqual(
    ['a', 'b'].map((id) =>
      expect.stringContaining(
        `delivery "${id}" ("order:paid") came out of the dead-letter queue, failed again, and could not be parked`,
      ),
    ),
  );
});

test('a dead letter that waits for the store is retried, and logged a few times a minute', async () => {
  vi.useFakeTimers();
  const written = stderr();
  const down = cloudflareWorker(gives({ outcome: 'unavailable', ran: [] }), NAMES);
  const live = message(job('live'));
  await down(batchOf([live]), env);
  expect(live.retry).toHaveBeenCalledOnce();
  expect(written).not.toHaveBeenCalled();

  const dead = Array.from({ length: 40 }, (_, index) => message(job(`${index}`)));
  await down(batchOf(dead, 'webhooks-dead'), env);
  for (const one of dead) expect(delayOf(one)).toBeGreaterThan(5);
  expect(written).toHaveBeenCalledTimes(10);
  vi.advanceTimersByTime(60_001);
  const lines = written.mock.calls.flat();
  expect(lines).toHaveLength(11);
  expect(lines[0]).toMatch(
    /delivery "0" \("order:paid"\) came out of the dead-letter queue, and could not be run or parked yet: .* 100\./,
  );
  expect(lines[10]).toContain('within a minute, 30 more');
});

test('a delivery that throws does not affect the others of its batch, of which four run at once', async () => {
  const written = stderr();
  let running = 0;
  let most = 0;
  const receiver: Dispatching = {
    dispatch: async ({ id }) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      if (id === '7') throw new Error('not this one');
      return HANDLED;
    },
  };
  const messages = Array.from({ length: 35 }, (_, index) => message(job(`${index}`)));
  await cloudflareWorker(receiver, NAMES)(batchOf(messages), env);
  const [bad] = messages.splice(7, 1);
  if (bad) expect(delayOf(bad)).toBeGreaterThan(5);
  for (const { ack, retry } of messages) {
    expect(ack).toHaveBeenCalledOnce();
    expect(retry).not.toHaveBeenCalled();
  }
  expect(most).toBe(4);
  expect(written.mock.calls.flat().join()).toContain('not this one');
});

test('only a delivery from the dead-letter queue is parked', async () => {
  const store = durableStore();
  const hooks = { onError() {} };
  const receiver = createReceiver({ secret: SECRET, scope: 'default', store, hooks });
  receiver.on('order:paid', () => Promise.reject(new Error('no')));
  const handle = cloudflareWorker(receiver, { ...NAMES, deadLetterQueue: ['other', 'dlq'] });
  const [first, last] = [message(job('a')), message(job('a'))];
  await handle(batchOf([first]), env);
  expect(first.retry).toHaveBeenCalledOnce();
  expect(await store.count({ state: 'dead' })).toBe(0);
  await handle(batchOf([last], 'dlq'), env);
  expect(last.ack).toHaveBeenCalledOnce();
  expect(await store.count({ state: 'dead' })).toBe(1);
});

test.each([-48, 48])(
  'a delivery is processed even if the clock of its receiver is %d hours off',
  async (hours) => {
    const handler = vi.fn();
    const receiver = createReceiver({ secret: SECRET, scope: 'default', store: durableStore() });
    const one = message({ ...job('a'), receivedAt: Date.now() + hours * 3_600_000 });
    await cloudflareWorker(receiver.on('order:paid', handler), NAMES)(batchOf([one]), env);
    expect(handler).toHaveBeenCalledOnce();
    expect(one.ack).toHaveBeenCalledOnce();
  },
);

test('an unknown queue is not processed, and is logged', async () => {
  const written = stderr();
  const receiver = { dispatch: vi.fn() };
  const [first, last] = [message(job('a')), message(job('b'), 50)];
  await cloudflareWorker(receiver, NAMES)(batchOf([first, last], 'webhooks-dlq'), env);
  expect(receiver.dispatch).not.toHaveBeenCalled();
  // The pauses of a dead letter, so that the operator has time to name the queue.
  expect(delayOf(first)).toBeGreaterThanOrEqual(30);
  expect(delayOf(last)).toBeGreaterThanOrEqual(1800);
  expect(delayOf(last)).toBeLessThanOrEqual(3600);
  expect(written.mock.calls.flat().join()).toMatch(/consumes the queue "webhooks-dlq", which/);
});

test('the receiver is created once per env, and again after a failure', async () => {
  const written = stderr();
  const receiver = gives({ outcome: 'handled', ran: [] });
  const make = vi.fn<(env: object) => Promise<Dispatching>>().mockResolvedValue(receiver);
  const handle = cloudflareWorker(make, NAMES);
  make.mockRejectedValueOnce(new Error('no secret'));
  const first = [message(job('a')), message(job('b'))];
  await handle(batchOf(first), env);
  expect(first.map(delayOf).every((delay) => delay <= 5)).toBe(true);
  expect(written.mock.calls.flat().join()).toContain('no secret');

  const other = {};
  const second = [env, env, other, other].map((each) => [each, message(job('a'))] as const);
  await Promise.all(second.map(([each, one]) => handle(batchOf([one]), each)));
  for (const [, one] of second) expect(one.ack).toHaveBeenCalledOnce();
  expect(make.mock.calls.flat()).toEqual([env, env, other]);
});

test('a dead letter keeps its long pauses while no receiver can be created', async () => {
  stderr();
  const make = () => Promise.reject(new Error('no secret'));
  const one = message(job('a'), 50);
  await cloudflareWorker(make, NAMES)(batchOf([one], 'webhooks-dead'), env);
  expect(delayOf(one)).toBeGreaterThanOrEqual(1800);
});

test('a receiver that hangs, or is never created, does not block its batch forever', async () => {
  vi.useFakeTimers();
  stderr();
  const dispatch = vi.fn<Dispatching['dispatch']>((delivery) =>
    delivery.id === 'hangs' ? new Promise(() => {}) : gives(HANDLED).dispatch(delivery, LAST),
  );
  const hang = Array.from({ length: 10 }, () => message(job('hangs')));
  const [before, after] = [message(job('before')), message(job('after'))];
  const batch = cloudflareWorker({ dispatch }, NAMES)(batchOf([before, ...hang, after]), env);
  await vi.advanceTimersByTimeAsync(14 * 60 * 1000);
  await batch;
  expect(before.ack).toHaveBeenCalledOnce();
  for (const one of [...hang, after]) expect(delayOf(one)).toBeGreaterThan(0);
  // No delivery starts when no time is left.
  expect(dispatch.mock.calls.map(([{ id }]) => id)).not.toContain('after');

  const one = message(job('a'));
  const never = cloudflareWorker(() => new Promise<Dispatching>(() => {}), NAMES);
  const unmade = never(batchOf([one]), env);
  await vi.advanceTimersByTimeAsync(10_000);
  await unmade;
  expect(delayOf(one)).toBeGreaterThan(0);
});

const HANDLED = { outcome: 'handled', ran: [] } as const;
const LAST = { lastAttempt: false };

test('an offloaded body without `large` is logged and retried', async () => {
  const written = stderr();
  const receiver = { dispatch: vi.fn() };
  const { body, ...rest } = job('a');
  const one = message({ ...rest, offloaded: rest.key });
  await cloudflareWorker(receiver, NAMES)(batchOf([one]), env);
  expect(delayOf(one)).toBeGreaterThan(0);
  expect(receiver.dispatch).not.toHaveBeenCalled();
  expect(written.mock.calls.flat().join()).toContain('the `large` of cloudflareQueue()');
});

describe('a large body', () => {
  /** A bucket with the given bodies. */
  function bucketOf(bodies: Record<string, string>) {
    const held = new Map(
      Object.entries(bodies).map(([name, text]) => [`webhook-body/${name}`, Buffer.from(text)]),
    );
    return {
      held,
      head: async (name: string) => held.get(name) ?? null,
      get: async (name: string) => {
        const body = held.get(name);
        return body ? { arrayBuffer: async () => Uint8Array.from(body).buffer } : null;
      },
      put: async (name: string, body: Uint8Array) => void held.set(name, Buffer.from(body)),
    };
  }

  const shop = () => {
    const handler = vi.fn();
    const hooks = { onError() {} };
    const store = durableStore();
    const receiver = createReceiver({ secret: SECRET, scope: 'default', store, hooks });
    return { handler, receiver: receiver.on('order:paid', handler) };
  };

  /** A message whose body was offloaded under the key that a receiver would use. */
  function offloadedJob(id: string, changes: object = {}) {
    const { body, ...rest } = job(id);
    const content = contentOf(paidOrder(), Buffer.from(order));
    const key = deliveryKey('delivery', { scope: 'default', id, event: 'order:paid', content });
    return { ...rest, key, offloaded: key, ...changes };
  }

  test('is verified, whatever bytes a retry of the delivery had', async () => {
    const written = stderr();
    const bucket = bucketOf({});
    const sent: unknown[] = [];
    const send = async (one: unknown) => void sent.push(one);
    const store = durableStore();
    const common = { secret: SECRET, scope: 'default', store };
    const queue = cloudflareQueue({ send }, { large: bucket });
    const web = createReceiver({ ...common, queue });
    const large = JSON.stringify(paidOrder({ email: `${'x'.repeat(200_000)}@example.com` }));
    for (const body of [large, `${large} `])
      expect(await deliver(web, body, { id: 'b' })).toMatchObject({ status: 200 });
    expect(sent).toHaveLength(2);

    const handler = vi.fn();
    const receiver = createReceiver(common).on('order:paid', handler);
    const handle = cloudflareWorker(receiver, { ...NAMES, large: () => bucket });
    for (const one of sent) {
      const given = message(one);
      await handle(batchOf([given]), env);
      expect(given.ack).toHaveBeenCalledOnce();
    }
    expect(handler).toHaveBeenCalledOnce();
    expect(await store.count({ state: 'dead' })).toBe(0);
    expect(written.mock.calls.flat().join()).not.toContain('delivery_unproven');
  });

  test('is found by a message of version 0.1.0, which named it `parked`', async () => {
    const { offloaded: parked, ...rest } = offloadedJob('b');
    const bucket = bucketOf({ [parked]: order });
    const { receiver, handler } = shop();
    const old = message({ ...rest, parked });
    await cloudflareWorker(receiver, { ...NAMES, large: () => bucket })(batchOf([old]), env);
    expect(handler).toHaveBeenCalledOnce();
    expect(old.ack).toHaveBeenCalledOnce();
  });

  test('is not passed to a message of another delivery', async () => {
    const written = stderr();
    const genuine = offloadedJob('b');
    const bucket = bucketOf({ [genuine.offloaded]: order });
    const { receiver, handler } = shop();
    const handle = cloudflareWorker(receiver, { ...NAMES, large: () => bucket });
    const forged = message(offloadedJob('a', { offloaded: genuine.offloaded }));
    await handle(batchOf([forged]), env);
    expect(handler).not.toHaveBeenCalled();
    expect(written.mock.calls.flat().join()).toContain('names the body of another delivery');

    const real = message(genuine);
    await handle(batchOf([real]), env);
    expect(handler).toHaveBeenCalledOnce();
    expect(real.ack).toHaveBeenCalledOnce();
  });

  test.each([
    ['kept if no handler ran, because a message may name another event', 'ignored', order],
    ['emptied if it is done', 'handled', ''],
  ] as const)('is %s', async (_, outcome, left) => {
    const { offloaded, ...rest } = offloadedJob('b');
    const bucket = bucketOf({ [offloaded]: order });
    const receiver = gives({ outcome, ran: [], key: rest.key });
    const given = message({ ...rest, offloaded });
    await cloudflareWorker(receiver, { ...NAMES, large: () => bucket })(batchOf([given]), env);
    expect(given.ack).toHaveBeenCalledOnce();
    expect(`${bucket.held.get(`webhook-body/${offloaded}`)}`).toBe(left);
  });

  test('whose storage hangs does not block its batch', async () => {
    vi.useFakeTimers();
    const written = stderr();
    const bucket = { ...bucketOf({}), get: () => new Promise<never>(() => {}) };
    const { receiver, handler } = shop();
    const handle = cloudflareWorker(receiver, { ...NAMES, large: () => bucket });
    const [large, small] = [message(offloadedJob('b')), message(job('a'))];
    const batch = handle(batchOf([large, small]), env);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(delayOf(large)).toBeGreaterThan(0);
    await batch;
    expect(small.ack).toHaveBeenCalledOnce();
    expect(handler).toHaveBeenCalledOnce();
    expect(written.mock.calls.flat().join()).toContain(
      'The storage of large bodies did not answer',
    );
  });

  test('that its storage does not delete in time does not block its batch', async () => {
    vi.useFakeTimers();
    const written = stderr();
    const one = offloadedJob('b');
    const put = () => new Promise<never>(() => {});
    const bucket = { ...bucketOf({ [one.offloaded]: order }), put };
    const { receiver, handler } = shop();
    const handle = cloudflareWorker(receiver, { ...NAMES, large: () => bucket });
    const ended = vi.fn();
    handle(batchOf([message(one)]), env).then(ended, ended);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(handler).toHaveBeenCalledOnce();
    expect(ended).toHaveBeenCalledOnce();
    expect(written.mock.calls.flat().join()).toContain('could not be deleted');
  });

  test.each([
    ['without its proof', { proof: undefined }],
    ['under another id', { id: 'fresh' }],
    ['as an event without a handler', { event: 'nobody:knows' }],
  ])('is kept for its own message if another one refers to it %s', async (_, changes) => {
    stderr();
    const genuine = offloadedJob('b');
    const bucket = bucketOf({ [genuine.offloaded]: order });
    const { receiver, handler } = shop();
    const handle = cloudflareWorker(receiver, { ...NAMES, large: () => bucket });
    await handle(batchOf([message({ ...genuine, ...changes })]), env);
    expect(bucket.held.get(`webhook-body/${genuine.offloaded}`)?.length).toBe(order.length);

    handler.mockClear();
    await handle(batchOf([message(genuine)]), env);
    expect(handler).toHaveBeenCalledOnce();
    expect(bucket.held.get(`webhook-body/${genuine.offloaded}`)?.length).toBe(0);
  });
});

test.each<[string, unknown]>([
  ['no options', undefined],
  ['no names', {}],
  ['no dead-letter queue', { queue: 'webhooks' }],
  ['an empty name', { ...NAMES, queue: '' }],
  ['an empty list of names', { ...NAMES, queue: [] }],
  ['the same name for both', { queue: 'webhooks', deadLetterQueue: 'webhooks' }],
  ['a `large` that is not a function', { ...NAMES, large: {} }],
])('%s is rejected immediately', (_, options) => {
  const receiver = createReceiver({ secret: SECRET });
  const wrong = () => cloudflareWorker(receiver, options as CloudflareWorkerOptions<unknown>);
  expect(wrong).toThrow(expect.objectContaining({ code: 'option_invalid' }));
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['a promise', Promise.resolve(createReceiver({ secret: SECRET }))],
  ['something else', { receive() {} }],
])('%s instead of a receiver is rejected immediately', (_, receiver) => {
  expect(() => cloudflareWorker(receiver as Dispatching, NAMES)).toThrow(
    expect.objectContaining({ code: 'receiver_invalid' }),
  );
});

test('a batch ends when the store has the record of each delivery', async () => {
  let tries = 0;
  const store = durableStore((base) => ({
    complete: async (...args) => {
      tries += 1;
      if (tries <= 3) throw new Error('it restarts');
      return base.complete(...args);
    },
  }));
  const receiver = createReceiver({ secret: SECRET, scope: 'default', store }).on('*', () => {});
  const content = contentOf(paidOrder(), Buffer.from(order));
  const key = deliveryKey('delivery', {
    scope: 'default',
    id: 'late',
    event: 'order:paid',
    content,
  });
  const one = message({ ...job('late'), key });
  await cloudflareWorker(receiver, NAMES)(batchOf([one]), env);
  expect(one.ack).toHaveBeenCalledOnce();
  expect(tries).toBe(4);
});
