import { createReceiver } from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  answered,
  ENDPOINT,
  type Entry,
  entry,
  live,
  MINUTE,
  openOncePerOrder,
  openShop as openPlain,
  type Provided,
  paid,
  recoverFrom,
  URL,
} from './provider.js';
import { HOUR, oldCode, openSeller, openShop, outcomesOf } from './seller.js';

describe('a migration to another address', () => {
  test('does not deliver what the old address delivered before the first answer of the new one', async () => {
    const seller = await openSeller();
    const old = oldCode();
    await seller.endpoint('/old');
    await seller.endpoint('/new');
    seller.answer(old.answer, '/old');
    await seller.sell(2);
    await seller.pass(72 * HOUR);
    const shop = openShop(seller.secret);
    seller.answer(shop, '/new');
    const [live] = await seller.sell();
    await seller.pass(HOUR);
    const recovery = await seller.recover(shop, { url: `${seller.host}/new` });
    expect(outcomesOf(recovery)).toEqual(['unanswered earlier', 'unanswered earlier']);
    expect(shop.delivered).toEqual([live]);
  });

  test('does not deliver that either if the old address is that of another scope', async () => {
    const shop = openPlain({ secret: ({ url = '' }) => ({ secret: SECRET, scope: url }) });
    const old = { payload: paid(1), response_code: 200, response: 'ok' };
    const logs = [entry(2, { ...old, url: 'https://shop.example/old' }), entry(1)];
    const { deliveries } = await recoverFrom({ logs }, shop);
    expect(deliveries).toMatchObject([{ recordId: 'ord_1', outcome: 'earlier' }]);
  });

  test('delivers what the new address missed after its first answer', async () => {
    const seller = await openSeller();
    await seller.endpoint('/old');
    await seller.endpoint('/new');
    seller.answer((_, response) => response.end('ok'), '/old');
    const shop = openShop(seller.secret);
    seller.answer(shop, '/new');
    await seller.sell();
    seller.answer('down', '/new');
    const missed = await seller.sell(2);
    await seller.pass(72 * HOUR);
    await seller.recover(shop, { url: `${seller.host}/new` });
    expect(shop.delivered.slice(1)).toEqual(missed);
  });
});

describe('a receiver behind a proxy that drops the id of each delivery', () => {
  /** The entry of a delivery that the receiver has handled without its id. */
  async function handled({ receiver }: ReturnType<typeof openPlain>, one: Entry): Promise<Entry> {
    const body = new TextEncoder().encode(JSON.stringify(one.payload));
    const headers = { 'x-service-event': 'order:paid', 'x-service-signature': sign(body, SECRET) };
    const answer = await receiver.receive({ method: 'POST', url: '/webhooks', headers, body });
    const response_headers = { ...answer.headers };
    return { ...one, response_code: answer.status, response: answer.body, response_headers };
  }

  test('recovers a missed order, and none whose answer alone was lost', async () => {
    const shop = openPlain();
    const at = ago(50 * MINUTE);
    const before = await handled(shop, entry(1, { created_at: at, updated_at: at }));
    const lost = { ...(await handled(shop, entry(2))), response_code: 0, response: null };
    expect(shop.delivered).toEqual(['ord_1', 'ord_2']);
    const logs = [entry(3), { ...lost, response_headers: {} }, before];
    const { deliveries } = await recoverFrom({ logs }, shop);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['duplicate', 'handled']);
    expect(shop.delivered).toEqual(['ord_1', 'ord_2', 'ord_3']);
  });
});

describe('a copy of a handled delivery, under an id of its own', () => {
  /** A copy of whl_1, such as of a manual retry or of a second endpoint at the same address. */
  const copy = (changes = {}) => entry(2, { payload: paid(1), ...changes });
  const url = [URL, `${URL}/b`];
  const endpoints = url.map((one) => ({ ...ENDPOINT, url: one }));

  test.each([
    ['missed', {}],
    ['answered by a maintenance page', { response_code: 200, response: '<h1>Back soon</h1>' }],
    ['missed at another address', { url: `${URL}/b` }],
  ])('is unsafe if it was %s', async (_, changes) => {
    for (const inOrder of [(logs: Entry[]) => logs, (logs: Entry[]) => logs.reverse()]) {
      const shop = openPlain();
      const logs = inOrder([copy(changes), await answered(shop, entry(1))]);
      for (const apply of [false, true]) {
        const provided = { logs: [...logs, await live(shop)], endpoints };
        const { deliveries, complete } = await recoverFrom(provided, shop, { url, apply });
        expect(deliveries.map(({ outcome }) => outcome)).toEqual(['unsafe']);
        expect([complete, shop.delivered]).toEqual([false, ['ord_1']]);
      }
    }
  });

  test.each(url)(
    'runs if the original was ignored, because no handler was there yet (%s)',
    async (at) => {
      const shop = openPlain();
      const early = createReceiver({ secret: SECRET, store: shop.store }).on(
        'query:created',
        () => {},
      );
      const logs = [
        copy({ url: at }),
        await answered({ receiver: early }, entry(1)),
        await live(shop),
      ];
      const { deliveries, complete } = await recoverFrom({ logs, endpoints }, shop, { url });
      expect(deliveries.map(({ outcome }) => outcome)).toEqual(['handled']);
      expect([complete, shop.delivered]).toEqual([true, ['ord_1']]);
    },
  );

  test('is unsafe if recovery has handled the original, in the same run or an earlier one', async () => {
    const shop = openPlain();
    const logs = [copy(), entry(1), await live(shop)];
    for (const outcomes of [
      ['handled', 'unsafe'],
      ['duplicate', 'unsafe'],
    ]) {
      const { deliveries, complete } = await recoverFrom({ logs }, shop);
      expect(deliveries.map(({ outcome }) => outcome)).toEqual(outcomes);
      expect([complete, shop.delivered]).toEqual([false, ['ord_1']]);
    }
  });

  /** A shop whose store does not say what is done, and the entry of whl_1, which it has handled. */
  async function handledOne() {
    const { isDone: _, ...store } = durableStore();
    const shop = openPlain({ store });
    return { shop, own: await answered(shop, entry(1)), long: await live(shop) };
  }

  test('is unsafe if another recovery handles the original at the same time', async () => {
    const { shop, long } = await handledOne();
    const { deliveries, complete } = await recoverFrom({ logs: [copy(), entry(1), long] }, shop);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['duplicate', 'unsafe']);
    expect([complete, shop.delivered]).toEqual([false, ['ord_1']]);
  });

  test.each([
    ['after the log was read', 'GET /webhooks/logs/whl_1', 1, ['settled', 'unsafe']],
    ['while the log is read', 'GET /webhooks/logs', 2, ['unsafe']],
  ])('is unsafe if a retry brings the original %s', async (_, path, count, outcomes) => {
    const { shop, own, long } = await handledOne();
    let asked = 0;
    const provided: Provided = {
      logs: [copy(), entry(1), long],
      onRequest(one) {
        if (one === path && ++asked === count) provided.logs = [copy(), own, long];
        return undefined;
      },
    };
    const { deliveries, complete } = await recoverFrom(provided, shop);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(outcomes);
    expect([complete, shop.delivered]).toEqual([false, ['ord_1']]);
  });

  test('is a duplicate if each handler runs once per order', async () => {
    const shop = openOncePerOrder();
    const logs = [copy(), await answered(shop, entry(1)), await live(shop)];
    const { deliveries, complete } = await recoverFrom({ logs }, shop);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['duplicate']);
    expect([complete, shop.delivered]).toEqual([true, ['ord_1']]);
  });

  test.each([
    ['of another event', { event: 'query:created' }],
    ['of another state', { payload: paid(1, { updated_at: ago(MINUTE) }) }],
    ['of another shop', { url: `${URL}/b` }],
  ])('runs if it is %s', async (_, changes) => {
    const shop = openPlain({ secret: ({ url: at = '' }) => ({ secret: SECRET, scope: at }) });
    const logs = [copy(changes), await answered(shop, entry(1)), await live(shop)];
    const { deliveries } = await recoverFrom({ logs, endpoints }, shop, { url });
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['handled']);
  });
});

describe("a provider's clock that is an hour ahead", () => {
  test('does not hide that the store is new', async () => {
    const before = openPlain();
    const [own, later] = [-40 * MINUTE, -30 * MINUTE].map((ms) => ({
      created_at: ago(ms),
      updated_at: ago(ms),
    }));
    const known = await answered(before, entry(2, later));
    const logs = [known, entry(1, own)];
    const shop = openPlain();
    const { deliveries } = await recoverFrom({ logs }, shop);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['earlier']);
    expect(shop.delivered).toEqual([]);
  });
});
