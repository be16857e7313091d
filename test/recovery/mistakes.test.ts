import Database from 'libsql';
import { describe, expect, test } from 'vitest';
import {
  DAY,
  HOUR,
  newFile,
  oldCode,
  openSeller,
  openShop,
  outcomesOf,
  type SellersShop,
  sqlite,
} from './seller.js';

type Seller = Awaited<ReturnType<typeof openSeller>>;

/** Simulates an outage in which the provider gives up on some orders. Returns their ids. */
async function outage(seller: Seller, shop: SellersShop, count = 2, path = '/webhooks') {
  seller.answer('down', path);
  const ids = await seller.sell(count);
  await seller.pass(72 * HOUR);
  seller.answer(shop, path);
  return ids;
}

/** A shop that has sold, was down, and has recovered its missed orders. */
async function openLived(secret?: string) {
  const seller = await openSeller();
  const shop = openShop(secret ?? seller.secret);
  await seller.endpoint();
  seller.answer(shop);
  await seller.sell();
  await outage(seller, shop);
  await seller.recover(shop);
  await seller.sell();
  await seller.pass(HOUR);
  return { seller, shop };
}

const all = (outcome: string) => (outcomes: string[]) =>
  outcomes.length > 0 && outcomes.every((one) => one.endsWith(` ${outcome}`));

describe('an address', () => {
  test.each([
    ['without its last letter', (url: string) => url.slice(0, -1)],
    ['in upper case', (url: string) => url.replace('webhooks', 'Webhooks')],
    ['of another host', (url: string) => url.replace('localhost', '127.0.0.1')],
    ['of another scheme', (url: string) => url.replace('http', 'https')],
    ['of another port', (url: string) => url.replace(/:\d+\//, '/')],
  ])('%s is rejected with the address of the account', async (_, wrong) => {
    const seller = await openSeller();
    const shop = openShop(seller.secret);
    await seller.endpoint();
    await outage(seller, shop);
    for (const url of [wrong(seller.url), [seller.url, wrong(seller.url)]]) {
      await expect(seller.recover(shop, { url })).rejects.toMatchObject({
        code: 'option_invalid',
        message: expect.stringContaining(`first: ${seller.url}. So nothing was done`),
      });
    }
    await seller.recover(shop, { url: wrong(seller.url), orders: true });
    expect(shop.delivered).toEqual([]);
  });

  test.each([
    ['with a slash at its end', (url: string) => `${url}/`],
    ['with a query', (url: string) => `${url}?a=1`],
    ['with its host in upper case', (url: string) => url.replace('localhost', 'LOCALHOST')],
  ])('%s means the same endpoint', async (_, same) => {
    const seller = await openSeller();
    const shop = openShop(seller.secret);
    await seller.endpoint();
    const missed = await outage(seller, shop);
    await seller.recover(shop, { url: same(seller.url) });
    expect(shop.delivered).toEqual(missed);
  });

  test('with a query means the endpoint with this query, if two endpoints differ only in that', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret, { isPlain: true });
    for (const name of ['a', 'b']) await seller.endpoint(`/webhooks?shop=${name}`);
    await outage(seller, shop);
    const url = `${seller.url}?shop=b`;
    expect((await seller.recover(shop, { url })).deliveries).toHaveLength(2);
    expect((await seller.recover(shop, { url: `${seller.url}?shop=c` })).deliveries).toHaveLength(
      4,
    );
  });
});

describe('a store that does not contain the deliveries in the log', () => {
  test('because it is new does not run lost ones again, except with earlier: true', async () => {
    const { seller, shop } = await openLived();
    const fresh = openShop(seller.secret);
    const left = await seller.recover(fresh);
    expect([left.complete, outcomesOf(left)]).toEqual([
      false,
      ['unanswered earlier', 'unanswered earlier'],
    ]);
    expect(fresh.delivered).toEqual([]);
    await seller.recover(fresh, { earlier: true });
    expect(shop.delivered).toEqual(expect.arrayContaining(fresh.delivered));
  });

  test("runs missed deliveries after its receiver's first answer, and skips marked ones", async () => {
    const { seller, shop } = await openLived();
    const fresh = openShop(seller.secret);
    for (const id of shop.delivered.slice(0, 2)) await fresh.receiver.markDone('deliver', id);
    seller.answer(fresh);
    await seller.sell();
    const [missed] = await outage(seller, fresh, 1);
    const recovered = await seller.recover(fresh);
    expect(outcomesOf(recovered)).toEqual([
      'unanswered duplicate',
      'unanswered earlier',
      'unanswered handled',
    ]);
    expect(fresh.delivered.at(-1)).toBe(missed);
  });

  test('is complete if all delivered orders are marked', async () => {
    const { seller, shop } = await openLived();
    const fresh = openShop(seller.secret);
    for (const id of shop.delivered) await fresh.receiver.markDone('deliver', id);
    const missed = await outage(seller, fresh);
    const { complete } = await seller.recover(fresh);
    expect([complete, fresh.delivered]).toEqual([true, missed]);
  });

  test("because it is yesterday's backup does not run again the orders that recovery has delivered since", async () => {
    const seller = await openSeller();
    const [file, backup] = [newFile(), newFile()];
    const shop = openShop(seller.secret, { store: sqlite(file) });
    await seller.endpoint();
    seller.answer(shop);
    await seller.sell();
    const database = new Database(file);
    database.exec(`VACUUM INTO '${backup}'`);
    database.close();
    await seller.pass(HOUR);
    await outage(seller, shop);
    await seller.recover(shop);
    await seller.sell();
    const restored = openShop(seller.secret, { store: sqlite(backup) });
    seller.answer(restored);
    await seller.sell();
    const [missed] = await outage(seller, restored, 1);
    expect(outcomesOf(await seller.recover(restored))).toEqual([
      'unanswered earlier',
      'unanswered earlier',
      'unanswered handled',
    ]);
    expect(restored.delivered.at(-1)).toBe(missed);
  });

  test('because it is new does not run unlogged orders beside a disabled endpoint', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret);
    await seller.endpoint();
    seller.answer(shop);
    await seller.sell();
    await outage(seller, shop, 20);
    await seller.sell(2);
    await seller.recover(shop, { recreateEndpoint: true });
    expect(shop.delivered).toHaveLength(23);
    const fresh = openShop(seller.secret);
    expect(outcomesOf(await seller.recover(fresh, { orders: true }))).toSatisfy(all('earlier'));
    expect(fresh.delivered).toEqual([]);
  });

  test('is trusted if it has no isDone', async () => {
    const { seller, shop } = await openLived();
    const { isDone: _, ...store } = sqlite();
    const mute = openShop(seller.secret, { store });
    await seller.recover(mute);
    expect(mute.delivered).toEqual(shop.delivered.slice(1, 3));
  });
});

describe('recovery with a receiver', () => {
  test('of another shop of the account runs nothing', async () => {
    const seller = await openSeller();
    const [a, b] = [openShop(seller.secret), openShop(seller.secret, { isPlain: true })];
    await seller.endpoint('/a');
    seller.answer(a, '/a');
    await seller.sell();
    await outage(seller, a, 2, '/a');
    await seller.recover(a, { url: `${seller.host}/a` });
    const wrong = await seller.recover(b, { url: `${seller.host}/a` });
    expect(outcomesOf(wrong)).toSatisfy(all('earlier'));
    expect(b.delivered).toEqual([]);
  });

  test.each([
    ['with another scope', (secret: string) => openShop(secret, { scope: 'games' })],
    ["with another secret, such as the sandbox's", () => openShop('whsec_of_the_sandbox')],
  ])('%s runs nothing', async (_, open) => {
    const { seller } = await openLived();
    const other = open(seller.secret);
    const wrong = await seller.recover(other);
    expect([wrong.complete, other.delivered]).toEqual([false, []]);
    expect(outcomesOf(wrong)).toSatisfy(all('earlier'));
  });

  test('whose scope is new on the same store runs nothing', async () => {
    const seller = await openSeller();
    const store = sqlite();
    const before = openShop(seller.secret, { store });
    await seller.endpoint();
    seller.answer(before);
    await seller.sell(3);
    const scoped = openShop(seller.secret, { store, scope: 'games' });
    seller.answer(scoped);
    await seller.pass(HOUR);
    await seller.sell();
    await seller.pass(HOUR);
    expect(outcomesOf(await seller.recover(scoped))).toSatisfy(all('earlier'));
    expect(scoped.delivered).toHaveLength(1);
  });

  test('of another account, which rejected the orders, runs nothing', async () => {
    const seller = await openSeller();
    const shop = openShop('whsec_of_another_account');
    await seller.endpoint();
    seller.answer(shop);
    await seller.sell();
    await seller.pass(72 * HOUR);
    expect(outcomesOf(await seller.recover(shop))).toEqual(['refused earlier']);
    expect(shop.delivered).toEqual([]);
  });

  test('whose secret was wrong runs the rejected orders after its first answer with the right one', async () => {
    const seller = await openSeller();
    const store = sqlite();
    await seller.endpoint();
    seller.answer(openShop('whsec_mistyped', { store }));
    const [refused] = await seller.sell();
    await seller.pass(72 * HOUR);
    const mended = openShop(seller.secret, { store });
    seller.answer(mended);
    await seller.sell();
    expect(outcomesOf(await seller.recover(mended))).toEqual(['refused handled']);
    expect(mended.delivered.at(-1)).toBe(refused);
  });
});

describe('the orders of a migration', () => {
  /** Runs the old code, then both for some minutes, then only the receiver. */
  async function migrate() {
    const seller = await openSeller();
    const old = oldCode();
    const shop = openShop(seller.secret, { isPlain: true });
    await seller.endpoint();
    seller.answer(old.answer);
    await seller.sell(2);
    await seller.pass(HOUR);
    const changedAt = new Date(seller.account.clock.now());
    for (const answering of [shop, old.answer, shop, old.answer, shop]) {
      seller.answer(answering);
      await seller.sell();
      await seller.pass(60_000);
    }
    return { seller, old, shop, changedAt };
  }

  test.each(['the change-over', 'a week ago'])(
    'are not delivered twice with since: %s',
    async (since) => {
      const { seller, old, shop, changedAt } = await migrate();
      await seller.pass(HOUR);
      const options = since === 'the change-over' ? { since: changedAt } : {};
      const recovered = await seller.recover(shop, options);
      expect(outcomesOf(recovered)).toSatisfy(all('earlier'));
      expect(recovered.deliveries).toHaveLength(since === 'the change-over' ? 2 : 4);
      expect(shop.delivered.filter((id) => old.delivered.includes(id))).toEqual([]);
    },
  );

  test('do not include a later maintenance page, whose orders recovery delivers', async () => {
    const { seller, shop } = await migrate();
    await seller.pass(2 * DAY);
    seller.answer((_, response) => response.end('<h1>Back soon</h1>'));
    const missed = await seller.sell();
    await seller.pass(HOUR);
    const { deliveries } = await seller.recover(shop);
    expect(deliveries.at(-1)).toMatchObject({ recordId: missed[0], outcome: 'handled' });
  });

  test('are found for each address separately', async () => {
    const seller = await openSeller();
    const old = oldCode();
    const shop = openShop(seller.secret, { isPlain: true });
    await seller.endpoint('/a');
    seller.answer(shop, '/a');
    await seller.sell();
    await seller.pass(2 * DAY);
    await seller.endpoint('/b');
    seller.answer(old.answer, '/b');
    await seller.sell();
    await seller.pass(HOUR);
    seller.answer(shop, '/b');
    await seller.sell();
    await seller.pass(HOUR);
    const recovered = await seller.recover(shop, {
      url: [`${seller.host}/a`, `${seller.host}/b`],
    });
    expect(outcomesOf(recovered)).toEqual(['foreign earlier']);
  });
});

describe('recovery', () => {
  test('leaves orders from before the endpoint, even if one of them was paid later', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret);
    const early = await seller.order();
    await seller.pass(HOUR);
    const byHand = await seller.sell(2);
    await seller.pass(HOUR);
    seller.answer(shop);
    await seller.endpoint();
    await seller.account.pay(early);
    await seller.account.idle();
    await outage(seller, shop, 20);
    const [unlogged] = await seller.sell();
    await seller.recover(shop);
    expect(shop.delivered).toHaveLength(22);
    expect(shop.delivered).toContain(unlogged);
    expect(shop.delivered.filter((id) => byHand.includes(id))).toEqual([]);
  });

  test('with a new receiver leaves the orders since the endpoint was disabled', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret);
    await seller.endpoint();
    await outage(seller, shop, 20);
    await seller.pass(10 * DAY);
    await seller.sell(2);
    expect(outcomesOf(await seller.recover(shop))).toEqual([
      'unlogged earlier',
      'unlogged earlier',
    ]);
  });

  test('compares orders if the endpoint was recreated by hand', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret);
    const { id } = await seller.endpoint();
    seller.answer(shop);
    await seller.sell();
    await outage(seller, shop, 20);
    const unlogged = await seller.sell(2);
    await seller.client.webhookEndpoints.delete(id);
    await seller.endpoint();
    await seller.pass(HOUR);
    await seller.sell();
    await seller.pass(HOUR);
    const { complete } = await seller.recover(shop);
    expect([complete, shop.delivered]).toEqual([true, expect.arrayContaining(unlogged)]);
    expect(shop.delivered).toHaveLength(24);
  });

  test('deletes a disabled endpoint once its replacement makes recovery compare orders', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret, { isPlain: true });
    await seller.endpoint();
    seller.answer(shop);
    await seller.sell();
    await outage(seller, shop, 20);
    await seller.sell();
    await seller.pass(HOUR);
    for (const complete of [false, false]) {
      const recovered = await seller.recover(shop, { recreateEndpoint: true });
      expect(recovered.complete).toBe(complete);
      expect(outcomesOf(recovered).at(-1)).toBe('unlogged unsafe');
      const { items } = await seller.client.webhookEndpoints.list();
      expect(items.map(({ enabled }) => enabled)).toEqual([true]);
    }
  });

  test('counts an endpoint without a handled event as missing', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret);
    await seller.endpoint('/webhooks', ['order:created']);
    seller.answer(shop);
    await seller.sell();
    await seller.pass(HOUR);
    const { endpoint, complete } = await seller.recover(shop);
    expect([endpoint, complete]).toEqual(['missing', false]);
  });
});

test('a missed order that was refunded or charged back is not delivered', async () => {
  const seller = await openSeller();
  const shop = openShop(seller.secret);
  await seller.endpoint();
  const [refunded = '', chargedBack = '', kept] = await outage(seller, shop, 3);
  await seller.account.refund(refunded);
  await seller.account.chargeBack(chargedBack);
  const { complete, deliveries } = await seller.recover(shop);
  expect([complete, shop.delivered]).toEqual([true, [kept]]);
  expect(deliveries.filter(({ outcome }) => outcome === 'settled')).toHaveLength(2);
});

describe('reconcile does not advise `recover` for orders that recovery leaves', () => {
  const remediesOf = async (seller: Seller, shop: SellersShop) =>
    (await seller.reconcile(shop)).findings.map(({ because, remedy }) => `${because} ${remedy}`);

  test('if they are older than the endpoint, after its first webhook', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret);
    await seller.sell(2);
    await seller.pass(HOUR);
    await seller.endpoint();
    seller.answer(shop);
    expect(await remediesOf(seller, shop)).toEqual(['unlogged earlier', 'unlogged earlier']);
    await seller.sell();
    await seller.pass(HOUR);
    const after = await seller.reconcile(shop);
    expect([after.findings, after.earlierOrders, after.delivered]).toEqual([[], 2, 1]);
    const { findings } = await seller.reconcile(shop, { delivered: (ids) => ids.slice(0, 1) });
    expect(findings.map(({ remedy }) => remedy)).toEqual(['earlier', 'earlier']);
  });

  test('if the store is new, the scope is another one, or the shop has migrated', async () => {
    const { seller, shop } = await openLived();
    expect(await remediesOf(seller, shop)).toEqual([]);
    const fresh = openShop(seller.secret);
    expect(await remediesOf(seller, fresh)).toEqual(['unanswered earlier', 'unanswered earlier']);
    const scoped = openShop(seller.secret, { scope: 'games' });
    expect(await remediesOf(seller, scoped)).toSatisfy(all('earlier'));
  });

  test('if they are unsafe, even after the endpoint was recreated', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret, { isPlain: true });
    await seller.endpoint();
    seller.answer(shop);
    await seller.sell();
    await outage(seller, shop, 20);
    await seller.sell();
    await seller.pass(HOUR);
    expect(await seller.reconcile(shop)).toMatchObject({ endpoint: 'disabled' });
    expect(new Set(await remediesOf(seller, shop))).toEqual(
      new Set(['unlogged oncePer', 'unanswered recover']),
    );
    await seller.recover(shop, { recreateEndpoint: true });
    expect(await remediesOf(seller, shop)).toEqual(['unlogged oncePer']);
    expect(await remediesOf(seller, openShop(seller.secret))).toSatisfy(all('earlier'));
  });

  test('unless recovery compares the orders', async () => {
    const seller = await openSeller();
    const shop = openShop(seller.secret);
    await seller.endpoint();
    seller.answer(shop);
    await seller.sell();
    await outage(seller, shop, 20);
    await seller.sell();
    await seller.pass(HOUR);
    expect(await remediesOf(seller, shop)).toSatisfy(all('recover'));
    expect(await seller.recover(shop)).toMatchObject({ complete: false, endpoint: 'disabled' });
    expect(await remediesOf(seller, shop)).toEqual([]);
  });
});
