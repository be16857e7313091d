import * as fc from 'fast-check';
import { createReceiver, type Hooks, type IdempotencyStore } from 'storefront-webhooks';
import {
  type RecoverOptions,
  type RecoveryProgress,
  reconcile,
  recover,
} from 'storefront-webhooks/recovery';
import { describe, expect, test, vi } from 'vitest';
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

describe('missed deliveries', () => {
  test.each<[string, Partial<Record<string, unknown>>, string | undefined]>([
    ['was rejected and has no retry left', {}, 'refused'],
    [
      'was rejected and its retry is to come',
      { retries: 2, next_retry_at: ago(-MINUTE) },
      undefined,
    ],
    [
      'was rejected and its retry never came',
      { retries: 2, next_retry_at: ago(30 * MINUTE) },
      'refused',
    ],
    ['was rejected and its retry is late', { retries: 2, next_retry_at: ago(MINUTE) }, undefined],
    [
      'was rejected and has a retry time but no retries left',
      { next_retry_at: ago(-MINUTE) },
      'refused',
    ],
    ['answered 300', { response_code: 300 }, 'refused'],
    ['answered 302', { response_code: 302 }, 'refused'],
    ['has a young 0', { response_code: 0, retries: 0, updated_at: ago(MINUTE) }, undefined],
    ['has an old 0', { response_code: 0, retries: 0 }, 'unanswered'],
    [
      'has a 0 and a retry to come',
      { response_code: 0, retries: 0, next_retry_at: ago(-MINUTE) },
      undefined,
    ],
    [
      'has a 0 without a valid time',
      { response_code: 0, created_at: null, updated_at: 'soon', retries: null },
      'unanswered',
    ],
    ["has another server's 200", { response_code: 200, response: 'OK' }, 'foreign'],
    [
      'has a 200 with a forged receipt',
      { response_code: 200, response: `v1.handled.1790000000.${'a'.repeat(64)}.${'b'.repeat(64)}` },
      'foreign',
    ],
    ['has an empty 200', { response_code: 200, response: null, response_headers: null }, 'foreign'],
    ['answered 103', { response_code: 103 }, 'refused'],
    ['has no status, not even 0', { response_code: undefined }, 'unanswered'],
    ['has a young 0 of the last retry', { response_code: 0, updated_at: ago(MINUTE) }, undefined],
    [
      'has a 0 that was just created and never updated',
      { response_code: 0, retries: 0, updated_at: null, created_at: ago(MINUTE) },
      undefined,
    ],
    ['was rejected a moment ago and has no retry left', { updated_at: ago(MINUTE) }, 'refused'],
    [
      'was rejected a moment ago and its retry has no time yet',
      { retries: 2, updated_at: ago(MINUTE) },
      undefined,
    ],
    ['has the same path but another host', { url: 'https://other.example/webhooks' }, undefined],
    ['has an invalid address', { url: 'webhooks' }, undefined],
    ['another address', { url: 'https://shop.example/other' }, undefined],
    ['has the address with a query', { url: `${URL}/?shop=1` }, 'refused'],
    ['before `since`', { created_at: ago(8 * DAY) }, undefined],
  ])('whether a log entry is missed: it %s', async (_, changes, reason) => {
    const shop = openShop();
    const { deliveries } = await recoverFrom({ logs: [entry(1, changes)] }, shop, { apply: false });
    expect(deliveries.map((one) => one.reason)).toEqual(reason === undefined ? [] : [reason]);
    expect(shop.delivered).toEqual([]);
  });

  test.each([
    ['the header', (one: Entry) => ({ ...one, response: null })],
    [
      'a header in another case, as a list',
      (one: Entry) => ({
        ...one,
        response: '',
        response_headers: {
          'Webhook-Receipt': [(one.response_headers as Record<string, string>)['webhook-receipt']],
        },
      }),
    ],
    ['the body', (one: Entry) => ({ ...one, response_headers: {} })],
  ])('an answer of this receiver is not missed, by its receipt in %s', async (_, change) => {
    const shop = openShop();
    const { log, deliveries } = await recoverFrom(
      { logs: [change(await answered(shop, entry(1)))] },
      shop,
    );
    expect([log.done, deliveries]).toEqual([1, []]);
  });

  test('an answer of another process under the retired secret is not missed', async () => {
    const other = openShop({ secret: SECRET });
    const logs = [await answered(other, entry(1))];
    const shop = openShop({
      secret: 'the new one',
      retiredSecrets: [{ secret: SECRET, until: '2100-01-01' }],
    });
    expect((await recoverFrom({ logs }, shop)).log.done).toBe(1);
    expect((await recoverFrom({ logs }, openShop({ secret: 'the new one' }))).log.foreign).toBe(1);
  });

  test('an answer that a cache returned for another delivery is missed', async () => {
    const shop = openShop();
    const cached = await answered(shop, entry(1));
    const { response, response_code, response_headers } = cached;
    const logs = [entry(2, { response, response_code, response_headers }), cached];
    const { deliveries } = await recoverFrom({ logs }, shop);
    expect(deliveries).toMatchObject([{ id: 'whl_2', reason: 'foreign', outcome: 'handled' }]);
    expect(shop.delivered).toEqual(['ord_1', 'ord_2']);
  });

  test('an answer to an edited payload is unsafe to run, because it would be handled twice', async () => {
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

  test('an answer to an edited payload is run if each handler has oncePer', async () => {
    const delivered: string[] = [];
    const receiver = createReceiver({ secret: SECRET, store: durableStore() }).on(
      'order:paid',
      ({ payload: { id } }) => void delivered.push(id),
      { name: 'deliver', oncePer: ({ id }) => id },
    );
    const one = await answered({ receiver }, entry(1));
    const edited = { ...one, payload: paid(1, { updated_at: ago(0) }) };
    // An attacker between both sent another order under the id of one that never arrived, and returned its answer.
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

describe('a missed delivery', () => {
  test('runs once in any number of recoveries, and its late retry is a duplicate', async () => {
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

  test('is a duplicate if only its answer was lost', async () => {
    const shop = openShop();
    await deliver(shop.receiver, paid(1), { id: 'whl_1' });
    const { deliveries } = await recoverFrom({ logs: [entry(1, { response_code: 0 })] }, shop);
    expect(deliveries).toMatchObject([{ outcome: 'duplicate', recordId: 'ord_1', value: '9.99' }]);
    expect(shop.delivered).toEqual(['ord_1']);
  });

  test('has the source log, and the query of its address', async () => {
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

  test('runs in the order of the changes of the records', async () => {
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

  test('costs two store calls more than a webhook, and only those if it is done', async () => {
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
    // One call of isDone is for the key that the delivery has if a proxy dropped its id.
    const asked = Array(4).fill('isDone');
    expect(calls.splice(0)).toEqual([...asked, ...ofWebhook, ...ofWebhook]);
    await recoverFrom({ logs }, shop);
    expect(calls).toEqual(asked);
  });

  test('waits if an earlier change of its order failed, but other orders do not', async () => {
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
    const changed = { payload: paid(1, { updated_at: ago(MINUTE) }), event: 'order:updated' };
    const logs = [entry(3, changed), entry(2), entry(1)];
    const first = await recoverFrom({ logs }, { receiver });
    expect(first.complete).toBe(false);
    expect(first.deliveries.map(({ outcome }) => outcome)).toEqual(['failed', 'handled', 'held']);
    broken = false;
    expect(await recoverFrom({ logs }, { receiver })).toMatchObject({ complete: true });
    expect(ran).toEqual(['order:paid ord_2', 'order:paid ord_1', 'order:updated ord_1']);
  });

  test.each([
    ['runs if its order is still paid', () => Response.json(paid(1)), 'handled'],
    ['runs if the provider does not have its order', () => none(404), 'handled'],
    ['runs if the token may not read orders', () => none(403), 'handled'],
    ['runs if the provider returns another order', () => Response.json(refunded(2)), 'handled'],
    ['is settled if its order was refunded', () => Response.json(refunded(1)), 'settled'],
    ['fails if its order cannot be read', () => Response.json({ id: 7 }), 'failed'],
  ])('%s', async (_, answer, outcome) => {
    const onRequest = (path: string) => (path === 'GET /orders/ord_1' ? answer() : undefined);
    const { deliveries } = await recoverFrom({ logs: [entry(1)], onRequest }, openShop());
    expect(deliveries.map((one) => one.outcome)).toEqual([outcome]);
  });

  test('is read again before it runs', async () => {
    const shop = openShop();
    const provided: Provided = { logs: [entry(2), entry(1)] };
    const client = provider(provided);
    provided.onRequest = (path) => {
      // The provider's own retry has succeeded, and the other entry was deleted.
      if (path === 'GET /webhooks/logs/whl_1') {
        provided.logs = [entry(1, { retries: 1, next_retry_at: ago(-MINUTE) })];
      }
      return undefined;
    };
    const { deliveries } = await recoverFrom(provided, shop, { client });
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['settled', 'gone']);
    expect(shop.delivered).toEqual([]);
  });

  test('may wait longer than five minutes with pendingAfter', async () => {
    const logs = [entry(1, { response_code: 0, retries: 0 })];
    const { log } = await recoverFrom({ logs }, openShop(), { pendingAfter: 2 * 60 * MINUTE });
    expect(log).toMatchObject({ waiting: 1, unanswered: 0 });
  });

  test('that is done is a duplicate without apply, and costs no further requests', async () => {
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

  test('is missed until each of its handlers has finished, under any delivery', async () => {
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

  test('stays done if a handler is added later, like a webhook', async () => {
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

  test('without a handler is ignored, also without apply', async () => {
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

  test('is listed if the store cannot answer', async () => {
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
    // Both keys of each delivery, at once.
    expect(asked).toBe(4);
  });

  test('is only listed without apply', async () => {
    const shop = openShop();
    const { deliveries, applied } = await recoverFrom({ logs: [entry(1)] }, shop, { apply: false });
    expect([applied, deliveries.map(({ outcome }) => outcome)]).toEqual([false, ['listed']]);
    expect(shop.delivered).toEqual([]);
  });

  test('is reported by onProgress when it has run', async () => {
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

  test('with an invalid payload is rejected, or parked by onInvalid', async () => {
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

  test('is unwrapped as the receiver unwraps a webhook', async () => {
    const shop = openShop({ unwrap: true });
    const logs = [entry(1, { payload: { event: 'order:paid', data: paid(1) } })];
    expect((await recoverFrom({ logs }, shop)).deliveries).toMatchObject([
      { recordId: 'ord_1', outcome: 'handled' },
    ]);
  });

  test('belongs to the shop of its address', async () => {
    const scopes: string[] = [];
    const receiver = createReceiver({
      secret: ({ url = '' }) => {
        const shop = new URLSearchParams(url.split('?')[1]).get('shop');
        return shop === null ? null : { secret: `of ${shop}`, scope: shop };
      },
      store: durableStore(),
    }).on('order:paid', ({ scope }) => void scopes.push(scope));
    const logs = [entry(1, { url: `${URL}?shop=b` }), entry(2)];
    const url = `${URL}?shop=b`;
    const provided = { logs, endpoints: [{ ...ENDPOINT, url }] };
    const { log, complete } = await recoverFrom(provided, { receiver }, { url });
    expect([scopes, log.unknownShop, log.unreadable, complete]).toEqual([['b'], 1, 0, false]);
  });

  test('rejects with the error if the `secret` function throws for `url`, and runs the next time', async () => {
    const secret = vi.fn(() => ({ secret: SECRET, scope: 'a' }));
    const shop = openShop({ secret });
    const provided = { logs: [entry(1)], orders: [paid(1)] };
    const down = () => {
      throw new Error('database is down');
    };
    secret.mockImplementationOnce(down);
    await expect(recoverFrom(provided, shop)).rejects.toThrow('database is down');
    secret.mockImplementationOnce(down);
    const client = provider(provided);
    const options = { receiver: shop.receiver, client, url: URL, now: NOW };
    await expect(reconcile(options)).rejects.toThrow('database is down');
    expect(shop.delivered).toEqual([]);
    await recoverFrom(provided, shop);
    expect(shop.delivered).toEqual(['ord_1']);
  });

  describe('that the owner of the account has sent to another shop', () => {
    const [A, B] = [`${URL}?shop=a`, `${URL}?shop=b`];
    const endpoints = [A, B].map((url) => ({ ...ENDPOINT, id: url, url }));
    const open = () => {
      const delivered: string[] = [];
      const receiver = createReceiver({
        secret: ({ url = '' }) => ({ secret: SECRET, scope: url.slice(-1) }),
        store: durableStore(),
      })
        .onPaid(({ payload: { id }, scope }) => void delivered.push(`${scope} ${id}`))
        .on('query:created', () => {});
      return { receiver, delivered };
    };

    test.each([
      ['without an endpoint, is counted', endpoints.slice(0, 1), 1, false],
      ['with an endpoint of its own, is left out', endpoints, 0, true],
    ])('%s', async (_, given, unknownShop, complete) => {
      const shop = open();
      const logs = [entry(1, { url: B }), entry(2, { url: A })];
      const options = { url: A, orders: false };
      const recovery = await recoverFrom({ logs, endpoints: given }, shop, options);
      expect(shop.delivered).toEqual(['a ord_2']);
      expect(recovery).toMatchObject({ log: { unknownShop, unreadable: 0 }, complete });
    });

    test.each([true, false])(
      'leaves its endpoint alone if this shop has none (enabled: %s)',
      async (enabled) => {
        const others = [{ ...ENDPOINT, url: B, enabled }];
        const provided: Provided = { logs: [entry(1, { url: B })], endpoints: others };
        const options = { url: A, orders: false, recreateEndpoint: true };
        const recovery = await recoverFrom(provided, open(), options);
        expect(recovery).toMatchObject({
          endpoint: 'missing',
          withoutEndpoint: [A],
          complete: false,
        });
        expect(provided.endpoints).toEqual(others);
        const applied = recoverFrom(provided, open(), { url: A });
        await expect(applied).rejects.toThrow(
          /has the address \S+\?shop=a\. .*: correct the query\. If the endpoint of your shop was deleted, .* dashboard\. The account/,
        );
      },
    );

    describe.each([
      ['knows no shop', (): null => null, 'unknownShop', []],
      [
        'throws',
        (): never => {
          throw new Error('database is down');
        },
        'unreadable',
        ['ep_z: Error: database is down', 'whl_1: Error: database is down'],
      ],
    ] as const)('or to an address for which the `secret` function %s', (_, ask, count, told) => {
      const Z = `${URL}?shop=z`;
      const other = { ...ENDPOINT, id: 'ep_z', url: Z, enabled: false };
      const openKnown = () => {
        const errors: string[] = [];
        const secret = ({ url = '' }) =>
          url.endsWith('z') ? ask() : { secret: SECRET, scope: url.slice(-1) };
        const onError: Hooks['onError'] = (error, { id }) => void errors.push(`${id}: ${error}`);
        const hooks: Hooks = { onError, onRejected() {} };
        return { ...openShop({ secret, hooks }), errors };
      };

      test('leaves its endpoint alone, and counts its entries', async () => {
        const shop = openKnown();
        const its = endpoints.slice(0, 1);
        const logs = [entry(1, { url: Z }), entry(2, { url: A })];
        const provided: Provided = { logs, endpoints: [...its, other] };
        const recovery = await recoverFrom(provided, shop, { url: A, recreateEndpoint: true });
        expect(recovery).toMatchObject({ endpoint: 'enabled', complete: false });
        expect(recovery.log[count]).toBe(1);
        expect([shop.delivered, provided.endpoints]).toEqual([['ord_2'], [...its, other]]);
        expect([...new Set(shop.errors)]).toEqual(told);
      });

      test('does not take its endpoint for that of this shop', async () => {
        const { receiver } = openKnown();
        const provided: Provided = { logs: [], endpoints: [{ ...other, enabled: true }] };
        const wanted = { endpoint: 'missing', withoutEndpoint: [A] };
        const options = { url: A, orders: false };
        const recovery = await recoverFrom(provided, { receiver }, options);
        expect(recovery).toMatchObject({ ...wanted, complete: false });
        const client = provider(provided);
        expect(await reconcile({ receiver, client, url: A, now: NOW })).toMatchObject(wanted);
      });
    });

    test('uses the endpoint at `url` itself, although the `secret` function knows no shop', async () => {
      const shop = openShop({ secret: () => null });
      const recovery = await recoverFrom({ logs: [entry(1)] }, shop);
      expect(recovery).toMatchObject({ endpoint: 'enabled', log: { unknownShop: 1 } });
    });

    test('while recovery reads it again, does not run', async () => {
      const shop = open();
      const logs = [entry(1, { url: A })];
      const given = endpoints.slice(0, 1);
      const onRequest = (path: string) =>
        path.endsWith('whl_1') ? Response.json(entry(1, { url: B })) : undefined;
      const { deliveries } = await recoverFrom({ logs, endpoints: given, onRequest }, shop, {
        url: A,
      });
      expect([shop.delivered, deliveries]).toMatchObject([[], [{ outcome: 'rejected' }]]);
    });

    test('is not run for this shop as an order that is missing from the log', async () => {
      const shop = open();
      const logs = [await live(shop, { url: A }), entry(1, { url: B })];
      const provided = { logs, endpoints: endpoints.slice(0, 1), orders: [paid(1), paid(2)] };
      await recoverFrom(provided, shop, { url: A, orders: true });
      expect(shop.delivered).toEqual(['a ord_2']);
    });

    test('runs if its address is given, too', async () => {
      const shop = open();
      const logs = [entry(1, { url: B }), entry(2, { url: A })];
      await recoverFrom({ logs, endpoints }, shop, { url: [A, B] });
      expect(shop.delivered.sort()).toEqual(['a ord_2', 'b ord_1']);
    });
  });

  test('is unavailable while the store is down, after recovery has tried one for a while', async () => {
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
  test('is read completely and without duplicates while its pages shift', async () => {
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
          // Every third delivery was missed. The others are too young to be judged.
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

  test('is not read endlessly if the provider ignores pages', async () => {
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

  test('is read no further back than `since` if it is sorted newest first', async () => {
    const logs = Array.from({ length: 500 }, (_, at) =>
      entry(500 - at, at > 60 ? { created_at: ago(8 * DAY + at) } : {}),
    );
    const shop = openShop();
    logs.splice(61, 0, await live(shop, { age: 2 * HOUR }));
    const client = provider({ logs });
    await recoverFrom({ logs }, shop, { client, apply: false });
    expect(client.asked.filter((path) => path === 'GET /webhooks/logs').length).toBeLessThan(8);
  });

  test('may contain incomplete and invalid entries, which are counted', async () => {
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
  test('gets at most perSecond requests a second', async () => {
    skipWaits();
    const client = provider({ logs: [entry(1), entry(2), entry(3)] });
    const startedAt = performance.now();
    const { requests } = await recoverFrom({ logs: [] }, openShop(), { client, perSecond: 20 });
    expect(requests).toBe(client.asked.length);
    expect(performance.now() - startedAt).toBeGreaterThan(((requests - 1) * 1000) / 20 - 5);
  });

  test('gets five requests a second by default', async () => {
    skipWaits();
    const { receiver } = openShop();
    const client = provider({ logs: [] });
    const startedAt = performance.now();
    const { requests } = await recover({ receiver, client, url: URL, now: NOW });
    expect(requests).toBe(3);
    expect(performance.now() - startedAt).toBeGreaterThan(2 * 200 - 5);
  });

  test.each([429, 503])('gets a retry after its Retry-After if it answers %i', async (status) => {
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
    const waits: RecoveryProgress[] = [];
    const onProgress = (progress: RecoveryProgress) => {
      if (progress.step === 'waiting') waits.push(progress);
    };
    await recoverFrom(provided, shop, { client, onProgress });
    const reason = expect.stringMatching(/^webhookLogs\.get: .*Later\.$/);
    expect(shop.delivered).toEqual(['ord_1']);
    expect(waits).toEqual([{ step: 'waiting', done: 1, of: 3, reason }]);
    expect(performance.now() - (refusedAt[0] ?? 0)).toBeGreaterThan(1_990);
  });

  test('may reject the credentials, which rejects with its code', async () => {
    const refuse = () => Response.json({ message: 'Who are you?' }, { status: 401 });
    await expect(recoverFrom({ logs: [], onRequest: refuse }, openShop())).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  test('gets no more requests after the signal aborts', async () => {
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

  test('may fail at any request: the next run handles each delivery once', async () => {
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

describe('a disabled endpoint', () => {
  const disabled = { ...ENDPOINT, enabled: false };
  const orders = [paid(3, { status: 0 }), paid(2), paid(1), paid(4, { updated_at: ago(8 * DAY) })];

  test('is reported, and its unlogged paid orders run', async () => {
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

  test('leaves unlogged orders as unsafe if a later delivery would run them again', async () => {
    const shop = openShop();
    const logs = [await live(shop)];
    const { deliveries } = await recoverFrom({ logs, endpoints: [disabled], orders }, shop);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['unsafe', 'unsafe']);
    expect(shop.delivered).toEqual([]);
  });

  test('is recreated on request, and the old one is deleted last', async () => {
    const provided: Provided = { logs: [entry(1)], endpoints: [disabled] };
    const client = provider(provided);
    const recovery = await recoverFrom(provided, openShop(), { client, recreateEndpoint: true });
    expect(recovery).toMatchObject({ endpoint: 'recreated', complete: true });
    expect(provided.endpoints).toMatchObject([{ url: URL, events: ['order:paid'], enabled: true }]);
    expect(client.asked.findIndex((path) => path.startsWith('POST'))).toBe(1);
    expect(client.asked.at(-1)).toBe('DELETE /webhooks/endpoints/ep_1');
  });

  test('that an interrupted run recreated still makes the next run compare orders', async () => {
    const provided: Provided = {
      logs: [],
      orders,
      endpoints: [{ ...ENDPOINT, id: 'ep_2' }, disabled],
    };
    const { deliveries } = await recoverFrom(provided, openShop(), { recreateEndpoint: true });
    expect(deliveries.map(({ reason }) => reason)).toEqual(['unlogged', 'unlogged']);
  });

  test('is reported as missing if there is no endpoint', async () => {
    const recovery = await recoverFrom({ logs: [], endpoints: [] }, openShop(), { apply: false });
    expect(recovery).toMatchObject({ endpoint: 'missing', complete: false });
  });
});

describe('recover rejects', () => {
  test.each<[string, Partial<RecoverOptions> | { atOnce: true }, RegExp]>([
    ['an unknown option', { atOnce: true }, /no option atOnce/],
    [
      'no receiver',
      { receiver: JSON.parse('{}') },
      /receiver has to be a receiver from createReceiver/,
    ],
    ['no client', { client: JSON.parse('{}') }, /client has to be a client from createClient/],
    ['no address', { url: '/webhooks' }, /url has to be the address/],
    ['a time too long ago', { since: 31 * DAY }, /at most 30 days ago.*reconcile/],
    ['a future', { since: new Date('2100-01-01') }, /since has to be in the past/],
    ['a new endpoint without apply', { recreateEndpoint: true, apply: false }, /\{ apply: true \}/],
    ['an invalid flag', { apply: JSON.parse('"yes"') }, /apply has to be true or false/],
    ['an invalid time', { now: new Date(Number.NaN) }, /now has to be a Date/],
    ['a rate of 0', { perSecond: 0 }, /perSecond has to be a number above 0/],
  ])('%s', async (_, options, message) => {
    const recovery = recoverFrom({ logs: [] }, openShop(), options as Partial<RecoverOptions>);
    await expect(recovery).rejects.toMatchObject({
      code: 'option_invalid',
      message: expect.stringMatching(message),
    });
  });

  test('a store in memory, which does not remember earlier deliveries', async () => {
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', () => {});
    await expect(recoverFrom({ logs: [] }, { receiver })).rejects.toThrow(/store in memory/);
  });
});
