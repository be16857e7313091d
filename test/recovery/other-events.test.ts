import { createReceiver, type Receiver, type ReceiverOptions } from 'storefront-webhooks';
import { type ReconcileOptions, reconcile } from 'storefront-webhooks/recovery';
import { sign } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  answered,
  type Entry,
  entry,
  live,
  MINUTE,
  NOW,
  paid,
  provider,
  recoverFrom,
  URL,
} from './provider.js';

const QUIET = { onRejected() {}, onError() {} };
const fails = () => {
  throw new Error('the other service rejects this address');
};
const isPaid = ({ status }: { status?: unknown }) => status === 100;
/** A paid order that the provider reported as created, and as paid ten minutes later. */
const ORDER = paid(1, { updated_at: ago(50 * MINUTE) });
const created = entry(1, { event: 'order:created', payload: paid(1, { status: 0 }) });
const updated = entry(2, { event: 'order:updated', payload: ORDER });
const missed = entry(3, { payload: ORDER });

function open(register: (receiver: Receiver) => unknown, options: Partial<ReceiverOptions> = {}) {
  const { events: _, ...others } = options;
  const receiver = createReceiver({
    ...{ secret: SECRET, store: durableStore(), hooks: QUIET },
    ...others,
  });
  register(receiver);
  return receiver;
}

/** Runs the delivery of an entry for the last time, as a queue does, and returns its outcome. */
async function failFor(
  receiver: Pick<Receiver, 'verify' | 'dispatch'>,
  { id, event, payload }: Entry,
): Promise<string> {
  const body = new TextEncoder().encode(JSON.stringify(payload));
  const delivery = await receiver.verify({
    ...{ method: 'POST', url: '/webhooks', body },
    headers: {
      'x-service-event': `${event}`,
      'x-service-webhook': id,
      'x-service-signature': sign(body, SECRET),
    },
  });
  if (delivery.outcome) throw new Error(delivery.message);
  return (await receiver.dispatch(delivery, { lastAttempt: true })).outcome;
}

async function findingsOf(
  receiver: Receiver,
  logs: Entry[],
  options: Partial<ReconcileOptions> = {},
) {
  const logged = [...logs].reverse();
  const { findings } = await reconcile({
    ...{ receiver, url: URL, now: NOW, perSecond: Number.POSITIVE_INFINITY },
    client: provider({ logs: [...logged, await live({ receiver })], orders: [ORDER] }),
    ...options,
  });
  return findings.map(({ kind, because, remedy }) => `${kind} ${because} ${remedy}`);
}

const noop = () => {};
const once = { name: 'deliver', oncePer: ({ id }: { id: string }) => id };
/** A receiver that delivers by `order:paid`, and whose handlers of other events fail. */
const byPaid = (receiver: Receiver) =>
  receiver
    .on('order:paid', noop, once)
    .on('order:created', fails)
    .on('order:updated', fails)
    .on('query:created', noop);

describe('an unfinished delivery that does not bring the goods', () => {
  test.each<[string, Entry[], string]>([
    ['the order:paid was refused', [missed], 'refused recover'],
    ['nothing answered the order:paid', [{ ...missed, response_code: 0 }], 'unanswered recover'],
    ['the log has no order:paid', [], 'unlogged orders'],
    [
      'the provider still retries the order:paid',
      [{ ...missed, retries: 1, updated_at: ago(MINUTE) }],
      'waiting undefined',
    ],
  ])('does not hide that %s', async (_, logs, expected) => {
    for (const other of [created, updated]) {
      const receiver = open(byPaid);
      expect(await failFor(receiver, other)).toBe('parked');
      expect(await findingsOf(receiver, [other, ...logs])).toEqual([`not_delivered ${expected}`]);
    }
  });

  test('does not hide the remedy, after which nothing is left to find', async () => {
    const receiver = open(byPaid);
    await failFor(receiver, created);
    expect(await findingsOf(receiver, [created, missed])).toEqual([
      'not_delivered refused recover',
    ]);
    const logs = [missed, created, await live({ receiver })];
    const { deliveries } = await recoverFrom({ logs, orders: [ORDER] }, { receiver });
    expect(deliveries.map(({ event, outcome }) => `${event} ${outcome}`)).toContain(
      'order:paid handled',
    );
    expect(await findingsOf(receiver, [created, missed])).toEqual([]);
  });

  test('may have a handler in common with order:paid', async () => {
    const receiver = open((one) => byPaid(one).on('*', noop));
    await failFor(receiver, updated);
    expect(await findingsOf(receiver, [updated, missed])).toEqual([
      'not_delivered refused recover',
    ]);
  });

  test('is not read by a function that throws for it', async () => {
    const unwrap = (body: Record<string, unknown>) => {
      if (isBroken) throw new Error('no');
      return { payload: body };
    };
    let isBroken = false;
    const receiver = open(byPaid, { unwrap });
    await failFor(receiver, updated);
    isBroken = true;
    const { findings } = await reconcile({
      ...{ receiver, url: URL, now: NOW, perSecond: Number.POSITIVE_INFINITY },
      client: provider({ logs: [], orders: [ORDER] }),
      delivered: () => [],
    });
    expect(findings).toMatchObject([{ because: 'unlogged' }]);
  });
});

describe('an unfinished delivery that brings the goods is the place of the order', () => {
  const dead = ['not_delivered dead dead'];

  test('if it is the order:paid', async () => {
    const receiver = open((one) => one.on('order:paid', fails).on('query:created', noop));
    await failFor(receiver, missed);
    expect(await findingsOf(receiver, [missed])).toEqual(dead);
  });

  test('if onPaid learned of the paid order by another event', async () => {
    const receiver = open((one) => one.onPaid(fails).on('query:created', noop));
    await failFor(receiver, updated);
    expect(await findingsOf(receiver, [updated, missed])).toEqual(dead);
  });

  test('but not if that event does not say that the order is paid', async () => {
    const receiver = open((one) =>
      one.onPaid(noop).on('order:created', fails).on('query:created', noop),
    );
    await failFor(receiver, created);
    expect(await findingsOf(receiver, [created, missed])).toEqual([
      'not_delivered refused recover',
    ]);
  });

  test('if no handler handles order:paid', async () => {
    const receiver = open((one) =>
      one.on('order:updated', fails, { name: 'deliver', when: isPaid }).on('query:created', noop),
    );
    await failFor(receiver, updated);
    expect(await findingsOf(receiver, [updated, missed])).toEqual(dead);
  });

  test('if a handler of all events delivers, and the log has no order:paid', async () => {
    const receiver = open((one) => one.on('order:*', fails).on('query:created', noop));
    await failFor(receiver, updated);
    expect(await findingsOf(receiver, [updated])).toEqual(dead);
  });

  test('if only the worker knows the handlers, and the log has no order:paid', async () => {
    const store = durableStore();
    const queue = { durable: true, enqueue: async () => ({ id: '1' }) } as const;
    const worker = open((one) => one.onPaid(fails).on('query:created', noop), { store });
    await failFor(worker, updated);
    const web = open(noop, { store, queue });
    const delivered = () => [];
    expect(await findingsOf(web, [updated], { delivered })).toEqual(dead);
    const [both] = await findingsOf(web, [updated, missed], { delivered });
    expect(both).toContain('not_delivered refused');
  });

  test('if the receiver takes the order out of a larger body', async () => {
    const unwrap = (body: Record<string, unknown>) =>
      'shop' in body ? { event: 'order:paid', payload: body.shop } : undefined;
    const receiver = open((one) => one.on('order:paid', fails).on('query:created', noop), {
      unwrap,
    });
    const wrapped = { ...missed, event: 'change', payload: { shop: ORDER } };
    await failFor(receiver, wrapped);
    expect(await findingsOf(receiver, [wrapped])).toEqual(dead);
  });

  test('whichever of its deliveries the store lists last', async () => {
    const receiver = open((one) =>
      one.on('order:paid', fails, { name: 'deliver' }).on('*', fails).on('query:created', noop),
    );
    await failFor(receiver, updated);
    const failing = await answered({ receiver }, missed);
    expect(await findingsOf(receiver, [updated, failing])).toEqual(['not_delivered failing dead']);
  });
});
