import * as fc from 'fast-check';
import { createReceiver, type IdempotencyStore } from 'storefront-webhooks';
import { type RecoverOptions, type RecoveryProgress, recover } from 'storefront-webhooks/recovery';
import { describe, expect, test } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { runs } from '../support/tier.js';
import {
  ago,
  answered,
  DAY,
  ENDPOINT,
  type Entry,
  entry,
  HOUR,
  live,
  MINUTE,
  NOW,
  openShop,
  type Provided,
  paid,
  provider,
  recoverFrom,
  URL,
} from './provider.js';

describe('what counts as missed', () => {
  test.each<[string, Partial<Record<string, unknown>>, string | undefined]>([
    ['refused, with no retry left', {}, 'refused'],
    ['refused, with a retry ahead', { retries: 2, next_retry_at: ago(-MINUTE) }, undefined],
    [
      'refused, with a retry that never came',
      { retries: 2, next_retry_at: ago(30 * MINUTE) },
      'refused',
    ],
    ['refused, with a retry that is late', { retries: 2, next_retry_at: ago(MINUTE) }, undefined],
    ['refused, with a retry ahead that is none', { next_retry_at: ago(-MINUTE) }, 'refused'],
    ['answered 302', { response_code: 302 }, 'refused'],
    ['a 0 that is young', { response_code: 0, retries: 0, updated_at: ago(MINUTE) }, undefined],
    ['a 0 that is old', { response_code: 0, retries: 0 }, 'unanswered'],
    [
      'a 0 with a retry ahead',
      { response_code: 0, retries: 0, next_retry_at: ago(-MINUTE) },
      undefined,
    ],
    [
      'a 0 of no age',
      { response_code: 0, created_at: null, updated_at: 'soon', retries: null },
      'unanswered',
    ],
    ['answered 200 by somebody else', { response_code: 200, response: 'OK' }, 'foreign'],
    [
      'answered 200 with a receipt that is none',
      { response_code: 200, response: `v1.handled.1790000000.${'a'.repeat(64)}.${'b'.repeat(64)}` },
      'foreign',
    ],
    [
      'answered 200 with nothing',
      { response_code: 200, response: null, response_headers: null },
      'foreign',
    ],
    ['answered 103', { response_code: 103 }, 'refused'],
    ['of no answer, not even a 0', { response_code: undefined }, 'unanswered'],
    [
      'a 0 that is young, of the last retry',
      { response_code: 0, updated_at: ago(MINUTE) },
      undefined,
    ],
    [
      'a 0 that was made just now, and not changed',
      { response_code: 0, retries: 0, updated_at: null, created_at: ago(MINUTE) },
      undefined,
    ],
    ['refused a moment ago, with no retry left', { updated_at: ago(MINUTE) }, 'refused'],
    [
      'refused a moment ago, with a retry that has no time yet',
      { retries: 2, updated_at: ago(MINUTE) },
      undefined,
    ],
    ['the same path of another shop', { url: 'https://other.example/webhooks' }, undefined],
    ['an address that is none', { url: 'webhooks' }, undefined],
    ['another address', { url: 'https://shop.example/other' }, undefined],
    ['the address with a query', { url: `${URL}/?shop=1` }, 'refused'],
    ['before `since`', { created_at: ago(8 * DAY) }, undefined],
  ])('%s', async (_, changes, reason) => {
    const shop = openShop();
    const { deliveries } = await recoverFrom({ logs: [entry(1, changes)] }, shop, { apply: false });
    expect(deliveries.map((one) => one.reason)).toEqual(reason === undefined ? [] : [reason]);
    expect(shop.delivered).toEqual([]);
  });

  test.each([
    ['the header', (one: Entry) => ({ ...one, response: null })],
    [
      'a header in other letters, as a list',
      (one: Entry) => ({
        ...one,
        response: '',
        response_headers: {
          'Webhook-Receipt': [(one.response_headers as Record<string, string>)['webhook-receipt']],
        },
      }),
    ],
    ['the body', (one: Entry) => ({ ...one, response_headers: {} })],
  ])('not what this receiver has answered: its receipt in %s', async (_, change) => {
    const shop = openShop();
    const { log, deliveries } = await recoverFrom(
      { logs: [change(await answered(shop, entry(1)))] },
      shop,
    );
    expect([log.done, deliveries]).toEqual([1, []]);
  });

  test('not what another process of the shop has answered, under the secret before', async () => {
    const other = openShop({ secret: SECRET });
    const logs = [await answered(other, entry(1))];
    const shop = openShop({
      secret: 'the new one',
      retiredSecrets: [{ secret: SECRET, until: '2100-01-01' }],
    });
    expect((await recoverFrom({ logs }, shop)).log.done).toBe(1);
    expect((await recoverFrom({ logs }, openShop({ secret: 'the new one' }))).log.foreign).toBe(1);
  });

  test('the answer to another delivery, which a cache has given', async () => {
    const shop = openShop();
    const cached = await answered(shop, entry(1));
    const { response, response_code, response_headers } = cached;
    const logs = [entry(2, { response, response_code, response_headers }), cached];
    const { deliveries } = await recoverFrom({ logs }, shop);
    expect(deliveries).toMatchObject([{ id: 'whl_2', reason: 'foreign', outcome: 'handled' }]);
    expect(shop.delivered).toEqual(['ord_1', 'ord_2']);
  });

  test('not what was answered while its payload was another: that would be done twice', async () => {
    const shop = openShop();
    const one = await answered(shop, entry(1));
    const edited = { ...one, payload: paid(1, { updated_at: ago(0) }) };
    const logs = [edited, await live(shop)];
    const { log, deliveries, complete } = await recoverFrom({ logs }, shop);
    expect([log.edited, shop.delivered, complete]).toEqual([1, ['ord_1'], false]);
    expect(deliveries).toMatchObject([{ reason: 'edited', outcome: 'unsafe' }]);
    const listed = await recoverFrom({ logs }, shop, { apply: false });
    expect(listed.deliveries).toEqual(deliveries);
  });

  test('what was answered while its payload was another, by what is done once per order', async () => {
    const delivered: string[] = [];
    const receiver = createReceiver({ secret: SECRET, store: durableStore() }).on(
      'order:paid',
      ({ payload: { id } }) => void delivered.push(id),
      { name: 'deliver', oncePer: ({ id }) => id },
    );
    const one = await answered({ receiver }, entry(1));
    const edited = { ...one, payload: paid(1, { updated_at: ago(0) }) };
    // Who stands in between sent another order under the id of one that never arrived, and gave its answer.
    const held = entry(2);
    const other = await answered({ receiver }, { ...held, payload: paid(1) });
    const stolen = { ...other, payload: held.payload };
    const logs = [edited, stolen, await live({ receiver })];
    const { deliveries, complete } = await recoverFrom({ logs }, { receiver });
    expect(deliveries.map(({ recordId, outcome }) => [recordId, outcome])).toEqual([
      ['ord_2', 'handled'],
      ['ord_1', 'duplicate'],
    ]);
    expect([complete, delivered]).toEqual([true, ['ord_1', 'ord_2']]);
  });
});

const refunded = (number: number) => paid(number, { status: 56 });
const none = (status: number) => Response.json({ message: 'None.' }, { status });

describe('what was missed', () => {
  test('is run once, whoever asks and how often, and a late retry is a duplicate', async () => {
    const shop = openShop();
    const logs = [entry(2), entry(1)];
    const first = await recoverFrom({ logs }, shop);
    expect(first).toMatchObject({ applied: true, complete: true, endpoint: 'enabled' });
    expect(first.deliveries.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['whl_1', 'handled'],
      ['whl_2', 'handled'],
    ]);
    const second = await recoverFrom({ logs }, shop);
    expect(second.deliveries.map(({ outcome }) => outcome)).toEqual(['duplicate', 'duplicate']);
    expect(await deliver(shop.receiver, paid(1), { id: 'whl_1' })).toMatchObject({
      status: 200,
      outcome: 'duplicate',
    });
    expect(shop.delivered).toEqual(['ord_1', 'ord_2']);
  });

  test('was done where only its answer was lost, and is not done again', async () => {
    const shop = openShop();
    await deliver(shop.receiver, paid(1), { id: 'whl_1' });
    const { deliveries } = await recoverFrom({ logs: [entry(1, { response_code: 0 })] }, shop);
    expect(deliveries).toMatchObject([{ outcome: 'duplicate', recordId: 'ord_1', value: '9.99' }]);
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('comes to its handlers as from the log, with the query of its address', async () => {
    const seen: unknown[] = [];
    const receiver = createReceiver({ secret: SECRET, store: durableStore() }).on(
      'order:paid',
      ({ source, request, id, receivedAt }) =>
        void seen.push({ source, order: request.query.get('order'), id, receivedAt }),
    );
    const one = entry(1, { url: `${URL}?order=7` });
    await recoverFrom({ logs: [one] }, { receiver });
    const receivedAt = new Date(`${one.created_at}`);
    expect(seen).toEqual([{ source: 'log', order: '7', id: 'whl_1', receivedAt }]);
  });

  test('is run oldest first, by when its record changed', async () => {
    const ran: string[] = [];
    const receiver = createReceiver({ secret: SECRET, store: durableStore() }).on(
      'order:*',
      ({ event, payload }) => void ran.push(`${event} ${payload.id}`),
    );
    const later = { payload: paid(1, { updated_at: ago(10 * MINUTE) }), event: 'order:updated' };
    const logs = [entry(2), entry(3, { ...later, created_at: ago(2 * DAY) }), entry(1)];
    await recoverFrom({ logs }, { receiver });
    expect(ran).toEqual(['order:paid ord_1', 'order:paid ord_2', 'order:updated ord_1']);
  });

  test('costs a store one question more than a webhook, and that alone where it was done before', async () => {
    const calls: string[] = [];
    const counted = (
      store: IdempotencyStore,
      ...names: ('claim' | 'completeStep' | 'complete' | 'isDone')[]
    ) =>
      Object.fromEntries(
        names.map((name) => [
          name,
          (...args: unknown[]) => {
            calls.push(name);
            return Reflect.apply(store[name] ?? (() => false), store, args);
          },
        ]),
      );
    const store = durableStore((inner) =>
      counted(inner, 'claim', 'completeStep', 'complete', 'isDone'),
    );
    const shop = openShop({ store });
    const logs = [entry(1), entry(2)];
    await deliver(shop.receiver, paid(3), { id: 'whl_3' });
    const ofWebhook = calls.splice(0);
    await recoverFrom({ logs }, shop);
    expect(calls.splice(0)).toEqual(['isDone', 'isDone', ...ofWebhook, ...ofWebhook]);
    await recoverFrom({ logs }, shop);
    expect(calls).toEqual(['isDone', 'isDone']);
  });

  test('waits where an earlier change of its order has failed, and other orders do not', async () => {
    const ran: string[] = [];
    let broken = true;
    const receiver = createReceiver({
      secret: SECRET,
      store: durableStore(),
      hooks: { onError() {} },
    }).on('order:*', ({ payload: { id }, event }) => {
      if (broken && event === 'order:paid' && id === 'ord_1') throw new Error('not now');
      ran.push(`${event} ${id}`);
    });
    const refunded = {
      payload: paid(1, { status: 56, updated_at: ago(MINUTE) }),
      event: 'order:updated',
    };
    const logs = [entry(3, refunded), entry(2), entry(1)];
    const first = await recoverFrom({ logs }, { receiver });
    expect(first.complete).toBe(false);
    expect(first.deliveries.map(({ outcome }) => outcome)).toEqual(['failed', 'handled', 'held']);
    broken = false;
    expect(await recoverFrom({ logs }, { receiver })).toMatchObject({ complete: true });
    expect(ran).toEqual(['order:paid ord_2', 'order:paid ord_1', 'order:updated ord_1']);
  });

  test.each([
    ['is run where its order is still paid', () => Response.json(paid(1)), 'handled'],
    ['is run where the provider has no such order', () => none(404), 'handled'],
    ['is run where the token may not see orders', () => none(403), 'handled'],
    ['is run where the provider gives another order', () => Response.json(refunded(2)), 'handled'],
    ['is left where its order was refunded', () => Response.json(refunded(1)), 'settled'],
    ['has failed where the order cannot be read', () => Response.json({ id: 7 }), 'failed'],
  ])('%s', async (_, answer, outcome) => {
    const onRequest = (path: string) => (path === 'GET /orders/ord_1' ? answer() : undefined);
    const { deliveries } = await recoverFrom({ logs: [entry(1)], onRequest }, openShop());
    expect(deliveries.map((one) => one.outcome)).toEqual([outcome]);
  });

  test('is asked for again before it is run', async () => {
    const shop = openShop();
    const provided: Provided = { logs: [entry(2), entry(1)] };
    const client = provider(provided);
    provided.onRequest = (path) => {
      // The provider's own retry has come through, and the other entry is deleted.
      if (path === 'GET /webhooks/logs/whl_1') {
        provided.logs = [entry(1, { retries: 1, next_retry_at: ago(-MINUTE) })];
      }
      return undefined;
    };
    const { deliveries } = await recoverFrom(provided, shop, { client });
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['settled', 'gone']);
    expect(shop.delivered).toEqual([]);
  });

  test('may be given more time than five minutes', async () => {
    const logs = [entry(1, { response_code: 0, retries: 0 })];
    const { log } = await recoverFrom({ logs }, openShop(), { pendingAfter: 2 * 60 * MINUTE });
    expect(log).toMatchObject({ waiting: 1, unanswered: 0 });
  });

  test('is not missed without apply where it is done, and asks the provider for nothing more', async () => {
    skipWaits();
    const shop = openShop();
    const logs = [entry(1), entry(2), await live(shop, { age: 2 * HOUR })];
    await recoverFrom({ logs: [entry(1)] }, shop);
    const client = provider({ logs });
    const options = { receiver: shop.receiver, client, url: URL, now: NOW };
    const listed = await recover(options);
    expect(listed.deliveries.map(({ outcome }) => outcome)).toEqual(['duplicate', 'listed']);
    expect(listed.complete).toBe(false);
    const before = client.asked.length;
    await recoverFrom({ logs }, shop);
    client.asked.length = 0;
    expect((await recover(options)).complete).toBe(true);
    const done = await recover({ ...options, apply: true });
    expect([done.complete, client.asked.length]).toEqual([true, 2 * before]);
  });

  test('is missed until each of its handlers is done, under whichever delivery', async () => {
    skipWaits();
    let isBroken = true;
    const receiver = createReceiver({
      secret: SECRET,
      store: durableStore(),
      hooks: { onError() {} },
    })
      .on('order:paid', () => {}, { name: 'deliver', oncePer: (order) => order.id })
      .on(
        'order:paid',
        () => {
          if (isBroken) throw new Error('no mail today');
        },
        { name: 'mail', oncePer: (order) => order.id },
      );
    const client = provider({ logs: [entry(1)] });
    const options = { receiver, client, url: URL, now: NOW };
    const outcomes = async () => (await recover(options)).deliveries.map(({ outcome }) => outcome);
    const other = () => deliver(receiver, paid(1), { id: 'another delivery of the order' });
    expect((await other()).outcome).toBe('failed');
    expect(await outcomes()).toEqual(['listed']);
    isBroken = false;
    expect((await other()).outcome).toBe('handled');
    expect(await outcomes()).toEqual(['duplicate']);
  });

  test('stays done where a handler has come since, as it does for a webhook', async () => {
    skipWaits();
    const store = durableStore();
    const open = (...names: string[]) => {
      const receiver = createReceiver({ secret: SECRET, store });
      for (const name of names)
        receiver.on('order:paid', () => {}, { name, oncePer: (order) => order.id });
      return receiver;
    };
    await recoverFrom({ logs: [entry(1)] }, { receiver: open('deliver') });
    const receiver = open('deliver', 'mail');
    const options = { receiver, client: provider({ logs: [entry(1)] }), url: URL, now: NOW };
    expect((await recover(options)).deliveries).toMatchObject([{ outcome: 'duplicate' }]);
    expect((await deliver(receiver, paid(1), { id: 'whl_1' })).outcome).toBe('duplicate');
  });

  test('is told as ignored where it has no handler, also without apply', async () => {
    skipWaits();
    const receiver = createReceiver({
      secret: SECRET,
      store: durableStore(),
      hooks: { onError() {} },
    });
    receiver.on('order:created', () => {});
    const client = provider({ logs: [entry(1)] });
    const { deliveries } = await recover({ receiver, client, url: URL, now: NOW });
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['ignored']);
  });

  test('is listed where the store cannot be asked', async () => {
    skipWaits();
    let asked = 0;
    const isDone = async () => {
      asked += 1;
      throw new Error('the store is down');
    };
    const shop = openShop({ store: durableStore(() => ({ isDone })) });
    const client = provider({ logs: [entry(1), entry(2)] });
    const { deliveries } = await recover({ receiver: shop.receiver, client, url: URL, now: NOW });
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['listed', 'listed']);
    expect(asked).toBe(1);
  });

  test('is only listed without apply', async () => {
    const shop = openShop();
    const { deliveries, applied } = await recoverFrom({ logs: [entry(1)] }, shop, { apply: false });
    expect([applied, deliveries.map(({ outcome }) => outcome)]).toEqual([false, ['listed']]);
    expect(shop.delivered).toEqual([]);
  });

  test('is told as it happens, one after the other', async () => {
    const told: unknown[] = [];
    const onProgress: RecoverOptions['onProgress'] = ({ step, done, of, delivery }) => {
      if (step === 'deliveries') told.push([done, of, delivery?.id, delivery?.outcome]);
    };
    await recoverFrom({ logs: [entry(2), entry(1)] }, openShop(), { onProgress });
    expect(told).toEqual([
      [0, 2, undefined, undefined],
      [1, 2, 'whl_1', 'handled'],
      [2, 2, 'whl_2', 'handled'],
    ]);
  });

  test('that does not fit its event is told, and kept by onInvalid', async () => {
    const logs = [entry(1, { payload: paid(1, { status: 0 }) })];
    const shop = openShop();
    expect((await recoverFrom({ logs }, shop)).deliveries).toMatchObject([{ outcome: 'rejected' }]);
    const kept: unknown[] = [];
    const receiver = createReceiver({ secret: SECRET, store: durableStore() }).onInvalid(
      ({ id }) => {
        kept.push(id);
      },
    );
    expect((await recoverFrom({ logs }, { receiver })).deliveries).toMatchObject([
      { outcome: 'parked' },
    ]);
    expect(kept).toEqual(['whl_1']);
  });

  test('in a body that wraps its record is read as the receiver reads it', async () => {
    const shop = openShop({ unwrap: true });
    const logs = [entry(1, { payload: { event: 'order:paid', data: paid(1) } })];
    expect((await recoverFrom({ logs }, shop)).deliveries).toMatchObject([
      { recordId: 'ord_1', outcome: 'handled' },
    ]);
  });

  test('is of the shop that its address names', async () => {
    const scopes: string[] = [];
    const receiver = createReceiver({
      secret: ({ url = '' }) => {
        const shop = new URLSearchParams(url.split('?')[1]).get('shop');
        return shop === null ? null : { secret: `of ${shop}`, scope: shop };
      },
      store: durableStore(),
    }).on('order:paid', ({ scope }) => void scopes.push(scope));
    const logs = [entry(1, { url: `${URL}?shop=b` }), entry(2)];
    const { log, complete } = await recoverFrom({ logs }, { receiver });
    expect([scopes, log.unknownShop, log.unreadable, complete]).toEqual([['b'], 1, 0, false]);
  });

  test('is left while the store is down, after one that was tried for a while', async () => {
    skipWaits();
    let claims = 0;
    const store = durableStore(() => ({
      claim: async () => {
        claims += 1;
        throw new Error('down');
      },
    }));
    const logs = Array.from({ length: 40 }, (_, at) => entry(at));
    const shop = openShop({ store });
    const { deliveries, complete } = await recoverFrom({ logs }, shop);
    expect(complete).toBe(false);
    expect(new Set(deliveries.map(({ outcome }) => outcome))).toEqual(new Set(['unavailable']));
    expect(claims).toBeLessThan(25);
  });
});

describe('the log', () => {
  test('loses and doubles nothing while its pages shift', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            at: fc.nat(12),
            add: fc.oneof(fc.constant(0), fc.nat(60)),
            drop: fc.array(fc.nat(300), { maxLength: 3 }),
          }),
          { maxLength: 6 },
        ),
        fc.boolean(),
        async (shifts, withoutTotal) => {
          const shop = openShop();
          // Every third was missed.
          const made = (number: number) =>
            entry(
              number,
              number % 3 === 0 ? {} : { response_code: 0, updated_at: ago(0), retries: 0 },
            );
          const provided: Provided = {
            logs: Array.from({ length: 170 }, (_, at) => made(170 - at)),
            withoutTotal,
          };
          let newest = 170;
          const dropped = new Set<string>();
          provided.onRequest = (path, count) => {
            if (path !== 'GET /webhooks/logs') return undefined;
            for (const { at, add, drop } of shifts.filter((one) => one.at === count)) {
              for (const place of drop) {
                const [gone] = provided.logs.splice(place % provided.logs.length, 1);
                if (gone) dropped.add(gone.id);
              }
              for (let added = 0; added < add; added++) provided.logs.unshift(made(++newest));
              expect(at).toBe(count);
            }
            return undefined;
          };
          await recoverFrom(provided, shop);
          const wanted = Array.from({ length: 170 }, (_, at) => at + 1)
            .filter((number) => number % 3 === 0 && !dropped.has(`whl_${number}`))
            .map((number) => `ord_${number}`);
          const counts = new Map<string, number>();
          for (const id of shop.delivered) counts.set(id, (counts.get(id) ?? 0) + 1);
          expect(wanted.filter((id) => counts.get(id) !== 1)).toEqual([]);
          expect([...counts.values()].every((count) => count === 1)).toBe(true);
        },
      ),
      { numRuns: runs(60, 6) },
    );
  });

  test('is read again and again without an end where it has no pages', async () => {
    const shop = openShop();
    const logs = Array.from({ length: 20 }, (_, at) => entry(at));
    const provided: Provided = { logs: [...logs, await live(shop, { age: 2 * HOUR })] };
    const client = provider(provided);
    provided.onRequest = (path) =>
      path === 'GET /webhooks/logs' ? Response.json(provided.logs) : undefined;
    const { deliveries } = await recoverFrom(provided, shop, { client });
    expect(deliveries).toHaveLength(20);
    expect(client.asked.filter((path) => path === 'GET /webhooks/logs')).toHaveLength(4);
  });

  test('is not read further back than `since`, where it is newest first', async () => {
    const logs = Array.from({ length: 500 }, (_, at) =>
      entry(500 - at, at > 60 ? { created_at: ago(8 * DAY + at) } : {}),
    );
    const shop = openShop();
    logs.splice(61, 0, await live(shop, { age: 2 * HOUR }));
    const client = provider({ logs });
    await recoverFrom({ logs }, shop, { client, apply: false });
    expect(client.asked.filter((path) => path === 'GET /webhooks/logs').length).toBeLessThan(8);
  });

  test('has holes, and entries that are none: they are counted', async () => {
    const logs = [
      entry(1),
      { id: 'whl_2' },
      entry(3, { payload: 'text' }),
      entry(4, { retries: 'many' }),
      entry(5, { event: 7 }),
      JSON.parse('null'),
    ];
    const { log, deliveries, complete } = await recoverFrom({ logs }, openShop());
    expect([log.unreadable, deliveries.length, complete]).toEqual([4, 2, false]);
  });
});

describe('the provider', () => {
  test('is not asked more often than perSecond says', async () => {
    skipWaits();
    const client = provider({ logs: [entry(1), entry(2), entry(3)] });
    const startedAt = performance.now();
    const { requests } = await recoverFrom({ logs: [] }, openShop(), { client, perSecond: 20 });
    expect(requests).toBe(client.asked.length);
    expect(performance.now() - startedAt).toBeGreaterThan(((requests - 1) * 1000) / 20 - 5);
  });

  test('is asked five times a second where nobody says how often', async () => {
    skipWaits();
    const { receiver } = openShop();
    const client = provider({ logs: [] });
    const startedAt = performance.now();
    const { requests } = await recover({ receiver, client, url: URL, now: NOW });
    expect(requests).toBe(3);
    expect(performance.now() - startedAt).toBeGreaterThan(2 * 200 - 5);
  });

  test.each([429, 503])('is waited for where it answers %i', async (status) => {
    skipWaits();
    const provided: Provided = { logs: [entry(1)] };
    const client = provider(provided);
    const refusedAt: number[] = [];
    provided.onRequest = (path) => {
      if (!path.endsWith('whl_1') || refusedAt.length > 0) return undefined;
      refusedAt.push(performance.now());
      return Response.json({ message: 'Later.' }, { status, headers: { 'Retry-After': '2' } });
    };
    const shop = openShop();
    const steps: string[] = [];
    const onProgress = ({ step }: RecoveryProgress) => void steps.push(step);
    await recoverFrom(provided, shop, { client, onProgress });
    expect([shop.delivered, steps.includes('waiting')]).toEqual([['ord_1'], true]);
    expect(performance.now() - (refusedAt[0] ?? 0)).toBeGreaterThan(1_990);
  });

  test('may refuse for good, and then says why', async () => {
    const refuse = () => Response.json({ message: 'Who are you?' }, { status: 401 });
    await expect(recoverFrom({ logs: [], onRequest: refuse }, openShop())).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  test('is left at once where the signal fires', async () => {
    const aborted = new AbortController();
    const refuse = () => {
      setTimeout(() => aborted.abort(new Error('enough')), 10);
      return Response.json(
        { message: 'Later.' },
        { status: 503, headers: { 'Retry-After': '50' } },
      );
    };
    const { signal } = aborted;
    const recovery = recoverFrom({ logs: [], onRequest: refuse }, openShop(), { signal });
    await expect(recovery).rejects.toThrow('enough');
  });

  test('killed at each request, and begun again, everything is done once', async () => {
    for (let killAt = 1; ; killAt++) {
      const shop = openShop();
      const logs = [entry(3), entry(2, { response_code: 0 }), entry(1, { response_code: 200 })];
      const dying = new AbortController();
      const onRequest = (_: string, count: number) => {
        if (count < killAt) return undefined;
        dying.abort(new Error('killed'));
        throw new Error('killed');
      };
      const client = provider({ logs, onRequest });
      const options = { client, earlier: true, signal: dying.signal };
      const killed = await recoverFrom({ logs }, shop, options).catch(() => undefined);
      expect((await recoverFrom({ logs }, shop, { earlier: true })).complete).toBe(true);
      expect(shop.delivered.sort()).toEqual(['ord_1', 'ord_2', 'ord_3']);
      if (killed) break;
      expect(killAt).toBeLessThan(20);
    }
  });
});

describe('an endpoint that was disabled', () => {
  const disabled = { ...ENDPOINT, enabled: false };
  const orders = [paid(3, { status: 0 }), paid(2), paid(1), paid(4, { updated_at: ago(8 * DAY) })];

  test('is told, and its orders are compared: those that no log tells of are run', async () => {
    const shop = openShop();
    const receiver = createReceiver({ secret: SECRET, store: durableStore() }).on(
      'order:paid',
      ({ payload: { id } }) => void shop.delivered.push(id),
      { name: 'deliver', oncePer: ({ id }) => id },
    );
    const logs = [entry(1), await live({ receiver })];
    const provided = { logs, endpoints: [disabled], orders };
    const recovery = await recoverFrom(provided, { receiver });
    expect(recovery).toMatchObject({ endpoint: 'disabled', complete: false });
    expect(recovery.deliveries).toMatchObject([
      { id: 'whl_1', reason: 'refused', outcome: 'handled' },
      { id: 'ord_2', reason: 'unlogged', outcome: 'handled' },
    ]);
    expect(shop.delivered).toEqual(['ord_1', 'ord_2']);
    const again = await recoverFrom(provided, { receiver });
    expect(again.deliveries.map(({ outcome }) => outcome)).toEqual(['duplicate', 'duplicate']);
    expect(await deliver(receiver, paidOrder({ id: 'ord_2' }), { id: 'whl_late' })).toMatchObject({
      outcome: 'duplicate',
    });
  });

  test('runs no order without a log where a later delivery would do it again', async () => {
    const shop = openShop();
    const logs = [await live(shop)];
    const { deliveries } = await recoverFrom({ logs, endpoints: [disabled], orders }, shop);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['unsafe', 'unsafe']);
    expect(shop.delivered).toEqual([]);
  });

  test('is made anew where that is asked for, and the old one goes last', async () => {
    const provided: Provided = { logs: [entry(1)], endpoints: [disabled] };
    const client = provider(provided);
    const recovery = await recoverFrom(provided, openShop(), { client, recreateEndpoint: true });
    expect(recovery).toMatchObject({ endpoint: 'recreated', complete: true });
    expect(provided.endpoints).toMatchObject([{ url: URL, events: ['order:paid'], enabled: true }]);
    expect(client.asked.findIndex((path) => path.startsWith('POST'))).toBe(1);
    expect(client.asked.at(-1)).toBe('DELETE /webhooks/endpoints/ep_1');
  });

  test('killed after it was made anew, the orders are compared the next time', async () => {
    const provided: Provided = {
      logs: [],
      orders,
      endpoints: [{ ...ENDPOINT, id: 'ep_2' }, disabled],
    };
    const { deliveries } = await recoverFrom(provided, openShop(), { recreateEndpoint: true });
    expect(deliveries.map(({ reason }) => reason)).toEqual(['unlogged', 'unlogged']);
  });

  test('is told where there is none', async () => {
    const recovery = await recoverFrom({ logs: [], endpoints: [] }, openShop(), { apply: false });
    expect(recovery).toMatchObject({ endpoint: 'missing', complete: false });
  });
});

describe('the options', () => {
  test.each<[string, Partial<RecoverOptions> | { atOnce: true }, RegExp]>([
    ['a name that there is not', { atOnce: true }, /no option atOnce/],
    [
      'no receiver',
      { receiver: JSON.parse('{}') },
      /receiver has to be a receiver from createReceiver/,
    ],
    ['no client', { client: JSON.parse('{}') }, /client has to be a client from createClient/],
    ['no address', { url: '/webhooks' }, /url has to be the address/],
    ['a past that is forgotten', { since: 31 * DAY }, /at most 30 days ago.*reconcile/],
    ['a future', { since: new Date('2100-01-01') }, /since has to be in the past/],
    ['a new endpoint of a dry run', { recreateEndpoint: true, apply: false }, /\{ apply: true \}/],
    ['a flag that is none', { apply: JSON.parse('"yes"') }, /apply has to be true or false/],
    ['a time that is none', { now: new Date(Number.NaN) }, /now has to be a Date/],
    ['a rate of none', { perSecond: 0 }, /perSecond has to be a number above 0/],
  ])('refuse %s', async (_, options, message) => {
    const recovery = recoverFrom({ logs: [] }, openShop(), options as Partial<RecoverOptions>);
    await expect(recovery).rejects.toMatchObject({
      code: 'option_invalid',
      message: expect.stringMatching(message),
    });
  });

  test('refuse a store that does not know what was done before', async () => {
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', () => {});
    await expect(recoverFrom({ logs: [] }, { receiver })).rejects.toThrow(/store in memory/);
  });
});
