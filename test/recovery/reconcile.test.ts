import { createReceiver, type Receiver, type SealedDelivery } from 'storefront-webhooks';
import {
  type DeliveredFunction,
  type ReadableLedger,
  type ReconcileOptions,
  reconcile,
} from 'storefront-webhooks/recovery';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { deliver, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  DAY,
  type Entry,
  entry,
  MINUTE,
  NOW,
  openShop,
  type Provided,
  paid,
  provider,
  URL,
} from './provider.js';

type Shop = ReturnType<typeof openShop>;

function reconcileWith(
  provided: Provided,
  { receiver }: Pick<Shop, 'receiver'>,
  options: Partial<ReconcileOptions> = {},
) {
  const client = provider(provided);
  const fast = { perSecond: Number.POSITIVE_INFINITY, now: NOW };
  return reconcile({ receiver, client, url: URL, ...fast, ...options });
}

async function answered(shop: Pick<Shop, 'receiver'>, one: Entry): Promise<Entry> {
  const { status, headers, body } = await deliver(shop.receiver, one.payload, {
    event: `${one.event}`,
    id: one.id,
  });
  return { ...one, response_code: status, response: body, response_headers: { ...headers } };
}

/** A shop that has delivered long ago. */
interface LateShop extends Pick<Shop, 'receiver'> {
  readonly ledger?: ReadableLedger;
  /** Runs the jobs of its queue. */
  readonly work?: () => Promise<void>;
}

function lateShop(register: (receiver: Receiver) => Receiver): LateShop {
  return { receiver: register(createReceiver({ secret: SECRET, store: durableStore() })) };
}

const ONCE = { name: 'deliver', oncePer: ({ id }: { id: string }) => id };

const having =
  (...delivered: string[]): DeliveredFunction =>
  (ids) =>
    delivered.filter((id) => ids.includes(id));

describe('reconcile', () => {
  test('finds nothing if all orders agree', async () => {
    const provided = { logs: [], orders: [paid(2), paid(1), paid(3, { status: 0 })] };
    const result = await reconcileWith(provided, openShop(), {
      delivered: having('ord_1', 'ord_2'),
    });
    expect(result).toMatchObject({ findings: [], orders: 3, paid: 2, delivered: 2 });
  });

  test.each<[string, Record<string, unknown>, string[], string[]]>([
    ['that was paid and not delivered', {}, [], ['not_delivered']],
    ['that was paid a moment ago and is not delivered yet', { updated_at: ago(MINUTE) }, [], []],
    ['that was paid just now, by a clock that is ahead', { updated_at: ago(-MINUTE) }, [], []],
    ['that was paid while a long comparison went on', { updated_at: ago(-20 * MINUTE) }, [], []],
    ['that was paid next week', { updated_at: ago(-7 * DAY) }, [], ['not_delivered']],
    ['delivered twice', {}, ['ord_1', 'ord_1'], ['delivered_twice']],
    ['that was refunded, but not taken back', { status: 56 }, ['ord_1'], ['not_taken_back']],
    ['that was charged back, but not taken back', { status: 51 }, ['ord_1'], ['not_taken_back']],
    [
      'that was charged back and delivered twice',
      { status: 51 },
      ['ord_1', 'ord_1'],
      ['delivered_twice', 'not_taken_back'],
    ],
    ['that was refunded and taken back', { status: 56 }, [], []],
    ['that was delivered but not paid', { status: 53 }, ['ord_1'], ['not_paid']],
    ['not paid', { status: 0 }, [], []],
    ['of before `since`', { updated_at: ago(8 * DAY) }, [], []],
  ])('classifies an order %s', async (_, changes, delivered, kinds) => {
    const provided = { logs: [], orders: [paid(1, changes)] };
    const { findings } = await reconcileWith(provided, openShop(), {
      delivered: having(...delivered),
    });
    expect(findings.map(({ kind }) => kind)).toEqual(kinds);
  });

  test('does not take the answer of another shop at the same address for its own', async () => {
    const receiver = createReceiver({
      secret: ({ url = '' }) => ({ secret: SECRET, scope: url }),
      store: durableStore(),
    }).on('order:paid', () => {});
    const order = entry(1, { url: `${URL}?shop=b` });
    const { status, headers, body } = await deliver(receiver, order.payload, {
      ...{ event: 'order:paid', id: `${order.id}`, url: '/webhooks?shop=b' },
    });
    const its = { response_code: status, response: body, response_headers: { ...headers } };
    const provided = { logs: [{ ...order, ...its }, entry(2)], orders: [paid(1)] };
    const [a, b] = [`${URL}?shop=a`, `${URL}?shop=b`];
    const found = async (url: string[]) =>
      (await reconcileWith(provided, { receiver }, { url })).delivered;
    expect([await found([a]), await found([a, b])]).toEqual([0, 1]);
  });

  describe('finds the dead delivery of an order', () => {
    const [A, B, UNKNOWN] = [`${URL}?shop=a`, `${URL}?shop=b`, `${URL}?shop=`];

    test.each<[string, string | string[], string]>([
      ['of the same shop', B, 'dead'],
      ['of one of several shops', [A, B], 'dead'],
      ['of a shop that the secret function no longer knows', UNKNOWN, 'dead'],
      ['of one of several shops that the secret function no longer knows', [A, UNKNOWN], 'dead'],
      ['not of another shop with the same order id', A, 'refused'],
    ])('%s', async (_, url, because) => {
      const store = durableStore();
      const receiver = createReceiver({
        secret: ({ url = '' }) => {
          const [, scope] = url.split('?shop=');
          return scope ? { secret: SECRET, scope } : null;
        },
        store,
        hooks: { onError() {}, onRejected() {} },
      }).on('order:paid', () => {
        throw new Error('no');
      });
      await deliver(receiver, paid(1), {
        event: 'order:paid',
        id: 'whl_b',
        url: '/webhooks?shop=b',
      });
      const [failing] = await store.list({ state: 'failing', limit: 1 });
      if (!failing) throw new Error('The delivery of shop b is missing.');
      await receiver.dispatch(failing, { lastAttempt: true });
      const provided = { logs: [entry(1, { url: A })], orders: [paid(1)] };
      const { findings } = await reconcileWith(
        provided,
        { receiver },
        { url, delivered: having() },
      );
      expect(findings.map((finding) => finding.because)).toEqual([because]);
    });
  });

  test('counts the orders that are too young to judge', async () => {
    const orders = [paid(1), paid(2, { updated_at: ago(MINUTE) })];
    const result = await reconcileWith({ logs: [], orders }, openShop(), {
      delivered: having('ord_1'),
    });
    expect(result).toMatchObject({ findings: [], orders: 2, paid: 2, delivered: 1, young: 1 });
  });

  test('gives the reason why an order was not delivered', async () => {
    const shop = openShop();
    const failing = openShop({ store: shop.store });
    const fails = () => {
      throw new Error('no');
    };
    failing.receiver.on('order:paid', fails, { name: 'fails' });
    const failed = await answered(failing, entry(3));
    const logs = [entry(1), entry(2, { response_code: 200, response: 'OK' }), failed];
    const orders = [paid(1), paid(2), paid(3), paid(4)];
    const { findings } = await reconcileWith({ logs, orders }, shop, { delivered: having() });
    expect(findings.map(({ orderId, because }) => [orderId, because])).toEqual([
      ['ord_1', 'refused'],
      ['ord_2', 'foreign'],
      ['ord_3', 'failing'],
      ['ord_4', 'unlogged'],
    ]);
  });

  test('leaves to the seller what the receiver has answered and its handler has not delivered', async () => {
    const shop = openShop();
    const logs = [await answered(shop, entry(1)), entry(2)];
    const { findings } = await reconcileWith({ logs, orders: [paid(1), paid(2)] }, shop, {
      delivered: having(),
    });
    expect(findings.map(({ because, remedy }) => [because, remedy])).toEqual([
      ['done', 'byHand'],
      ['refused', 'recover'],
    ]);
  });

  test('judges an order by the last of its deliveries, if an earlier one was answered', async () => {
    const shop = openShop();
    const missed = entry(2, { payload: paid(1, { updated_at: ago(10 * MINUTE) }) });
    const logs = [missed, await answered(shop, entry(1))];
    const { findings } = await reconcileWith({ logs, orders: [paid(1)] }, shop, {
      delivered: having(),
    });
    expect(findings.map(({ because, remedy }) => [because, remedy])).toEqual([
      ['refused', 'recover'],
    ]);
  });

  test.each<[string, () => LateShop]>([
    ['once per order', () => lateShop((receiver) => receiver.on('order:paid', () => {}, ONCE))],
    ['for each delivery', () => lateShop((receiver) => receiver.on('order:paid', () => {}))],
    [
      'for each delivery, with a ledger',
      () => {
        const entered: string[] = [];
        const ledger = { entered: async () => entered };
        const shop = lateShop((receiver) =>
          receiver.on('order:paid', ({ key }) => void entered.push(key)),
        );
        return { ...shop, ledger };
      },
    ],
    [
      'by the worker of a queue',
      () => {
        const store = durableStore();
        const jobs: SealedDelivery[] = [];
        const enqueue = async (job: SealedDelivery) => ({ id: `${jobs.push(job)}` });
        const options = { secret: SECRET, store, queue: { durable: true, enqueue } } as const;
        const worker = createReceiver(options).on('order:paid', () => {});
        const work = async () => {
          for (const job of jobs) await worker.dispatch(job);
        };
        return { receiver: createReceiver(options), work };
      },
    ],
  ])('finds an order that was charged back long after it was delivered %s', async (_, open) => {
    const { work, ledger, ...shop } = open();
    const at = { created_at: ago(9 * DAY), updated_at: ago(9 * DAY) };
    const delivered = await answered(shop, entry(1, { ...at, payload: paid(1, at) }));
    await work?.();
    const charged = { status: 51, created_at: ago(9 * DAY) };
    const provided = { logs: [delivered], orders: [paid(1, charged), paid(2, charged)] };
    const { findings, earlierOrders } = await reconcileWith(provided, shop, ledger && { ledger });
    expect(findings.map(({ orderId, kind }) => [orderId, kind])).toEqual([
      ['ord_1', 'not_taken_back'],
    ]);
    expect(earlierOrders).toBe(0);
  });

  test.each([
    ['on from the time of the order', ago(20 * DAY), 2],
    ['as a whole for an order without a time', undefined, 13],
  ])('reads the log for a late refund %s', async (_, created_at, pages) => {
    const { receiver } = lateShop((one) => one.on('order:paid', () => {}));
    const at = { created_at: ago(20 * DAY), updated_at: ago(20 * DAY) };
    const delivered = await answered({ receiver }, entry(1, { ...at, payload: paid(1, at) }));
    const others = Array.from({ length: 600 }, (_, day) => {
      const changes = { created_at: ago((22 + day) * DAY), updated_at: ago((22 + day) * DAY) };
      return entry(2 + day, { ...changes, event: 'query:created', payload: { id: `qry_${day}` } });
    });
    const orders = [paid(1, { status: 56, created_at })];
    const client = provider({ logs: [delivered, ...others], orders });
    const { findings } = await reconcileWith({ logs: [] }, { receiver }, { client });
    expect(findings).toMatchObject([{ orderId: 'ord_1', kind: 'not_taken_back' }]);
    // Each reading is repeated to see whether the log has changed meanwhile, and asks for a page in advance. The first
    // one is of the last week.
    const asked = client.asked.filter((path) => path === 'GET /webhooks/logs');
    expect(asked).toHaveLength(2 * 2 + 2 * pages);
  });

  test('accepts an order that was taken back before `since`, and has changed again', async () => {
    const { receiver } = lateShop((one) =>
      one
        .onPaid(() => {})
        .on('order:updated', () => {}, {
          ...{ name: 'refund', oncePer: ({ id }) => id },
          when: ({ status }) => status === 51 || status === 56,
        }),
    );
    const at = { created_at: ago(9 * DAY), updated_at: ago(9 * DAY) };
    const refundedAt = { created_at: ago(8 * DAY), updated_at: ago(8 * DAY) };
    const refund = paid(1, { ...at, status: 56, updated_at: ago(8 * DAY) });
    const delivered = await answered({ receiver }, entry(1, { ...at, payload: paid(1, at) }));
    const takenBack = await answered(
      { receiver },
      entry(2, { ...refundedAt, event: 'order:updated', payload: refund }),
    );
    const provided = {
      logs: [takenBack, delivered],
      orders: [{ ...refund, updated_at: ago(DAY) }],
    };
    expect(await reconcileWith(provided, { receiver })).toMatchObject({
      findings: [],
      delivered: 1,
    });
  });

  test('reads a paid order that the log does not mention in its own paid state', async () => {
    const options = { secret: SECRET, store: durableStore(), paidStatuses: [100, 10] };
    const receiver = createReceiver(options).on('order:paid', () => {}, {
      ...{ name: 'deliver', oncePer: ({ id, status }) => `${id} ${status}` },
    });
    await receiver.markDone('deliver', 'ord_1 10');
    const provided = { logs: [], orders: [paid(1, { status: 10 })] };
    expect(await reconcileWith(provided, { receiver })).toMatchObject({
      findings: [],
      delivered: 1,
    });
  });

  test('uses the log without `delivered`', async () => {
    const shop = openShop();
    shop.receiver.on('order:updated', () => {});
    const twice = entry(5, { payload: paid(2, { updated_at: ago(10 * MINUTE) }) });
    const refunded = entry(6, { event: 'order:updated', payload: paid(3, { status: 56 }) });
    const logs = [
      await answered(shop, entry(1)),
      await answered(shop, entry(2)),
      await answered(shop, twice),
      await answered(shop, entry(3)),
      await answered(shop, refunded),
      await answered(shop, entry(4)),
      entry(7),
    ];
    const orders = [1, 2, 3, 4, 7].map((id) =>
      paid(id, id === 3 || id === 4 ? { status: 56 } : {}),
    );
    const { findings } = await reconcileWith({ logs, orders }, shop);
    expect(findings.map(({ orderId, kind }) => [orderId, kind])).toEqual([
      ['ord_2', 'delivered_twice'],
      ['ord_4', 'not_taken_back'],
      ['ord_7', 'not_delivered'],
    ]);
  });

  test('counts a duplicate under another key as one delivery', async () => {
    const shop = openShop();
    const oncePer = ({ id }: { id: string }) => id;
    const receiver = createReceiver({ secret: SECRET, store: durableStore() }).on(
      'order:paid',
      ({ payload: { id } }) => void shop.delivered.push(id),
      { name: 'deliver', oncePer },
    );
    const again = entry(2, { payload: paid(1, { updated_at: ago(10 * MINUTE) }) });
    const logs = [await answered({ receiver }, again), await answered({ receiver }, entry(1))];
    const { findings, delivered } = await reconcileWith({ logs, orders: [paid(1)] }, { receiver });
    expect([findings, delivered, shop.delivered]).toEqual([[], 1, ['ord_1']]);
  });

  test('knows a changed order that the provider sent before `since`', async () => {
    const shop = openShop();
    const old = { created_at: ago(9 * DAY), updated_at: ago(9 * DAY) };
    const told = await answered(shop, entry(1, { ...old, payload: paid(1, old) }));
    const orders = [paid(1, { created_at: ago(9 * DAY) }), paid(3, old)];
    const untold = paid(4, { created_at: ago(10 * DAY) });
    const logs = [await answered(shop, entry(2)), told];
    const provided = { logs, orders: [...orders, paid(2), untold] };
    const { findings, delivered, earlierOrders } = await reconcileWith(provided, shop);
    expect([findings, delivered, earlierOrders]).toEqual([[], 2, 1]);
  });

  test('asks the store about a page of orders at once, also about those that are older than the log', async () => {
    let asking = 0;
    let most = 0;
    const store = durableStore(({ isDone }) => ({
      isDone: async (key) => {
        most = Math.max(most, ++asking);
        await new Promise(setImmediate);
        asking -= 1;
        return (await isDone?.(key)) ?? false;
      },
    }));
    const shop = openShop({ store });
    const old = { created_at: ago(3 * DAY) };
    const orders = Array.from({ length: 180 }, (_, n) => paid(n + 10, old));
    const logs = [await answered(shop, entry(1))];
    const { earlierOrders } = await reconcileWith({ logs, orders: [paid(1), ...orders] }, shop);
    expect([earlierOrders, most]).toEqual([180, 50]);
  });

  test('asks once for an order that shifts onto the next page', async () => {
    const provided: Provided = {
      logs: [],
      orders: Array.from({ length: 120 }, (_, at) => paid(at)),
    };
    provided.onRequest = (path) => {
      if (path === 'GET /orders')
        provided.orders?.unshift(paid(1000 + (provided.orders?.length ?? 0)));
      return undefined;
    };
    const asked: string[] = [];
    const delivered = (ids: readonly string[]) => {
      asked.push(...ids);
      return ids;
    };
    const { findings } = await reconcileWith(provided, openShop(), { delivered });
    expect(findings).toEqual([]);
    expect(new Set(asked).size).toBe(asked.length);
  });

  test('rejects unknown options', async () => {
    const options = JSON.parse('{ "deliverd": true }');
    await expect(reconcileWith({ logs: [] }, openShop(), options)).rejects.toThrow(
      /no option deliverd.*delivered/,
    );
  });
});

describe('reconcile.every', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  test('is done by one of many processes, again and again, until it is stopped', async () => {
    // The leases of the store pass, too.
    const timers = ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const;
    vi.useFakeTimers({ toFake: [...timers, 'performance', 'Date'] });
    const store = durableStore();
    const orders = [paid(1)];
    const results: string[] = [];
    const schedules = ['a', 'b', 'c'].map((name) =>
      reconcile.every('1s', {
        receiver: openShop({ store }).receiver,
        client: provider({ logs: [], orders }),
        url: URL,
        perSecond: Number.POSITIVE_INFINITY,
        since: new Date(0),
        delivered: having(),
        onResult: () => void results.push(name),
      }),
    );
    await vi.advanceTimersByTimeAsync(3_600);
    await Promise.all(schedules.map((one) => one.stop()));
    expect([2, 3]).toContain(results.length);
    await vi.advanceTimersByTimeAsync(1_200);
    expect([2, 3]).toContain(results.length);
  });

  test('logs findings and errors to stderr', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line));
    const refuse = () => Response.json({ message: 'Who are you?' }, { status: 401 });
    const open = (provided: Provided) =>
      reconcile.every('1s', {
        receiver: openShop().receiver,
        client: provider(provided),
        url: URL,
        perSecond: Number.POSITIVE_INFINITY,
        since: new Date(0),
        delivered: having(),
      });
    const schedules = [
      open({ logs: [], orders: [paid(1)] }),
      open({ logs: [], onRequest: refuse }),
    ];
    await vi.waitFor(() => {
      const text = lines.join('\n');
      expect(text).toMatch(/do not agree on an order: ord_1 \(not_delivered: unlogged\)/);
      expect(text).toMatch(/could not be done, and is tried again: .*Who are you/);
    });
    await Promise.all(schedules.map((one) => one.stop()));
  });

  test.each(['15', 'm', '0m', '-1h', '30d'])('rejects %s as an interval', (interval) => {
    const shop = { receiver: openShop().receiver, client: provider({ logs: [] }), url: URL };
    expect(() => reconcile.every(interval, shop)).toThrow(/interval has to be a text such as/);
  });
});
