import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ended } from '../../support/patience.js';
import { type Answer, type Listener, startListener } from './listener.js';
import { openShop, START } from './shop.js';

const WAIT = { interval: 5 };

type Shop = ReturnType<typeof openShop>;

let listener: Listener;
let shop: Shop;
beforeEach(async () => {
  listener = await startListener();
  shop = openShop();
});
afterEach(async () => {
  await shop.close();
  await listener.close();
});

/** Sends a webhook, advances to each of its retries, and returns the pauses in seconds. */
async function pauses(of: Shop): Promise<number[]> {
  of.subscribe(listener.url);
  of.order();
  await of.idle();
  const waited: number[] = [];
  for (;;) {
    const due = of.logs()[0]?.next_retry_at;
    if (!due) return waited;
    const ms = Date.parse(due) - of.account.clock.now();
    const before = listener.came.length;
    await of.account.clock.advance(ms - 1);
    expect(listener.came).toHaveLength(before);
    await of.account.clock.advance(1);
    expect(listener.came).toHaveLength(before + 1);
    waited.push(ms / 1000);
  }
}

describe('[spec: Webhook log] a webhook is retried up to its retry_limit, and no more', () => {
  test.each([
    ['doubling', [10, 20, 40, 80, 160, 320, 640, 1280]],
    ['steady', [300, 300, 300, 300, 300]],
    ['server-errors', [10, 20, 40, 80, 160, 320, 640, 1280]],
  ] as const)('%s', async (retries, expected) => {
    const other = openShop({ unknowns: { retries } });
    listener.answer(500);
    expect(await pauses(other)).toEqual(expected);
    expect(other.logs()).toMatchObject([
      {
        retries: expected.length,
        retry_limit: expected.length,
        next_retry_at: null,
        response_code: 500,
      },
    ]);
    await other.account.clock.advance(1e9);
    expect(listener.came).toHaveLength(expected.length + 1);
    await other.close();
  });
});

test('[spec: Webhook log] each retry has the same log and bytes, and the log has the last answer', async () => {
  listener.answer((_, number) => (number < 3 ? { status: 503, body: `${number}` } : 204));
  expect(await pauses(shop)).toEqual([10, 20]);
  const [first, ...again] = listener.came;
  for (const came of again) {
    expect([came.id, came.body]).toEqual([first?.id, first?.body]);
    expect(came.headers['x-service-signature']).toBe(first?.headers['x-service-signature']);
  }
  expect(shop.logs()).toMatchObject([
    {
      retries: 2,
      response_code: 204,
      response: '',
      next_retry_at: null,
      updated_at: '2026-11-20T10:00:30.000000+00:00',
    },
  ]);
  expect(shop.logs()).toHaveLength(1);
});

const ANSWERS = [200, 201, 204, 299, 301, 400, 401, 404, 410, 429, 500, 503] as const;
const PASSING = { doubling: ANSWERS.slice(4), 'server-errors': [429, 500, 503] };

describe.each(['doubling', 'server-errors'] as const)(
  'retries: %s decides whether to retry a webhook',
  (retries) => {
    test.each(ANSWERS)('that got %i', async (code) => {
      const other = openShop({ unknowns: { retries } });
      const isRetried = PASSING[retries].some((passing) => passing === code);
      other.subscribe(listener.url);
      listener.answer(code);
      other.order();
      await other.idle();
      const due = isRetried ? '2026-11-20T10:00:10.000000+00:00' : null;
      expect(other.logs()).toMatchObject([{ response_code: code, next_retry_at: due }]);
      await other.close();
    });

    test('that got no answer', async () => {
      const other = openShop({ unknowns: { retries } });
      listener.answer('reset');
      other.subscribe(listener.url);
      other.order();
      await other.idle();
      expect(other.logs()[0]?.next_retry_at).not.toBeNull();
      await other.close();
    });
  },
);

test('an endpoint that switches to another protocol gives no answer, and holds up nothing', async () => {
  listener.answer('upgrade');
  shop.subscribe(listener.url);
  shop.order();
  await ended(shop.idle(), 'the attempt');
  expect(shop.logs()).toMatchObject([
    { response_code: 0, response: 'No answer: the connection closed before an answer.' },
  ]);
});

test('a webhook that waits for its retry does not delay others', async () => {
  shop.subscribe(listener.url);
  listener.answer((_, number) => (number === 1 ? 503 : 200));
  const first = shop.order();
  await shop.idle();
  const second = shop.order();
  await shop.idle();
  await shop.account.clock.advance(10_000);
  expect(listener.came.map(({ json }) => json.id)).toEqual([first.id, second.id, first.id]);
});

describe('[spec: Webhook endpoint] no retry is sent to', () => {
  test.each([
    ['deleted', (of: Shop, id: string) => of.account.webhookEndpoints.delete(id)],
    [
      'disabled',
      ({ account: { webhookEndpoints } }: Shop, id: string) => {
        const endpoint = webhookEndpoints.get(id);
        if (endpoint) webhookEndpoints.put({ ...endpoint, enabled: false });
      },
    ],
  ])('an endpoint that was %s', async (_, end) => {
    const { id } = shop.subscribe(listener.url);
    listener.answer({ status: 503, body: 'busy' });
    shop.order();
    await shop.idle();
    end(shop, id);
    await shop.account.clock.advance(1e9);
    expect(listener.came).toHaveLength(1);
    expect(shop.logs()).toMatchObject([{ response: 'busy', retries: 0, next_retry_at: null }]);
  });

  test('an endpoint that was disabled before the first attempt', async () => {
    const endpoint = shop.subscribe(listener.url);
    shop.order();
    shop.account.webhookEndpoints.put({ ...endpoint, enabled: false });
    await shop.idle();
    expect(listener.came).toEqual([]);
    expect(shop.logs()).toMatchObject([
      { response: 'Not sent: its endpoint is disabled.', response_code: 0, next_retry_at: null },
    ]);
  });
});

describe('a clock', () => {
  test('that is manual advances only after all consequences of a retry', async () => {
    shop.subscribe(listener.url, ['order:updated']);
    const goods = { status: 200, body: 'KEY' };
    const dynamic_url = `${listener.origin}/goods`;
    const answers = new Map<unknown, Answer[]>([
      ['/goods', [500, goods]],
      ['/webhooks', [200, 200, 500, 200]],
    ]);
    listener.answer(({ path }) => answers.get(path)?.shift() ?? 400);
    const { id } = shop.sell(shop.product({ product_type: 'dynamic', dynamic_url }));
    await shop.idle();
    // The goods arrive after 10 seconds, and the webhook about them after 20.
    await shop.account.clock.advance(20_000);
    expect(listener.came.slice(-3).map(({ event }) => event)).toEqual([
      'product:dynamic',
      'order:updated',
      'order:updated',
    ]);
    expect(listener.came.at(-1)?.json).toMatchObject({ id, delivered: 'KEY' });
  });

  test('that is fast sends all retries by itself, each at its time', async () => {
    const fast = openShop({ clock: 'fast' });
    fast.subscribe(listener.url);
    listener.answer(500);
    fast.order();
    await vi.waitFor(() => expect(fast.logs()).toMatchObject([{ retries: 8 }]), WAIT);
    expect(listener.came).toHaveLength(9);
    expect(fast.account.clock.now()).toBe(START + 2550 * 1000);
    await fast.close();
  });

  test('that is real and advanced by a day sends each retry on the way', async () => {
    const real = openShop({ clock: 'real' });
    listener.answer(() => 500);
    real.subscribe(listener.url, ['order:paid']);
    for (const _ of [1, 2, 3]) real.sell();
    await real.idle();
    await real.account.clock.advance(24 * 3_600_000);
    expect(listener.came).toHaveLength(3 * 9);
    await real.close();
  });

  test('that is real sends other webhooks while an endpoint hangs', async () => {
    const real = openShop({ clock: 'real', timeout: 60_000 });
    const hanging = await startListener();
    hanging.answer((_, number) => (number === 1 ? 500 : 'hang'));
    listener.answer((_, number) => (number === 1 ? 500 : 200));
    real.subscribe(hanging.url);
    real.order();
    await real.idle();
    real.subscribe(listener.url, ['order:updated']);
    real.sell();
    await vi.waitFor(() => expect(listener.came).toHaveLength(2), WAIT);
    void real.account.clock.advance(10_000);
    await vi.waitFor(() => expect(hanging.came.length).toBeGreaterThan(1), WAIT);
    await vi.waitFor(() => expect(listener.came).toHaveLength(3), WAIT);
    await real.close();
    await hanging.close();
  });
});
