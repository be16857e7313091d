import { describe, expect, test, vi } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { ago, answered, DAY, entry, openShop, recoverFrom, URL } from './provider.js';

const at = (ms: number) => ({ created_at: ago(ms), updated_at: ago(ms) });
const DAYS_AGO = at(3 * DAY);
const FOREIGN = { response_code: 200, response: 'OK' };

describe("a success from before the receiver's first answer", () => {
  const before = entry(1, { ...FOREIGN, ...DAYS_AGO });
  const after = entry(3, { ...FOREIGN, response: '<h1>Back soon</h1>' });

  test('is reported and left, and runs with earlier: true', async () => {
    const shop = openShop();
    const logs = [after, await answered(shop, entry(2, at(2 * DAY))), before];
    const left = await recoverFrom({ logs }, shop);
    expect(left).toMatchObject({
      complete: false,
      deliveries: [
        { id: 'whl_1', reason: 'foreign', outcome: 'earlier' },
        { id: 'whl_3', reason: 'foreign', outcome: 'handled' },
      ],
    });
    expect(shop.delivered).toEqual(['ord_2', 'ord_3']);
    const all = await recoverFrom({ logs }, shop, { earlier: true });
    expect(all.complete).toBe(true);
    expect(shop.delivered).toEqual(['ord_2', 'ord_3', 'ord_1']);
  });

  test('is listed as `earlier` without apply', async () => {
    const { deliveries } = await recoverFrom({ logs: [before] }, openShop(), { apply: false });
    expect(deliveries).toMatchObject([{ outcome: 'earlier' }]);
  });

  test('includes every success if the receiver has never answered', async () => {
    const shop = openShop();
    const { deliveries } = await recoverFrom({ logs: [after, before] }, shop);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['earlier', 'earlier']);
    expect(shop.delivered).toEqual([]);
  });

  test('is a duplicate if the store has recorded it as done', async () => {
    const shop = openShop();
    await answered(shop, before);
    const { deliveries, complete } = await recoverFrom({ logs: [before] }, shop);
    expect([deliveries[0]?.outcome, complete]).toEqual(['duplicate', true]);
  });

  test('does not make recovery read the log before `since` if the log has an older answer of the receiver', async () => {
    const shop = openShop();
    const old = await answered(shop, entry(1, DAYS_AGO));
    const { deliveries } = await recoverFrom({ logs: [after, old] }, shop, { since: DAY });
    expect(deliveries).toMatchObject([{ id: 'whl_3', outcome: 'handled' }]);
  });

  test("still counts as earlier if the receiver's first answer was to the retry of an older delivery", async () => {
    const shop = openShop();
    const retried = await answered(shop, entry(2, { created_at: ago(4 * DAY) }));
    const { deliveries } = await recoverFrom({ logs: [retried, before] }, shop);
    expect(deliveries).toMatchObject([{ id: 'whl_1', outcome: 'earlier' }]);
  });

  test('is judged without a further report of the errors of other entries', async () => {
    const errorsOf = async (...logs: (typeof before)[]) => {
      const onError = vi.fn();
      const secret = ({ url = '' }) => {
        if (url.endsWith('9')) throw new Error('no database');
        return { secret: SECRET, scope: 'shop' };
      };
      const shop = openShop({ secret, hooks: { onError } });
      const provided = { logs: [entry(9, { url: `${URL}?9` }), ...logs] };
      await recoverFrom(provided, shop, { apply: false });
      return onError.mock.calls.length;
    };
    expect(await errorsOf(before)).toBe(await errorsOf());
  });

  test('does not include rejections, because they were not handled', async () => {
    const shop = openShop();
    const logs = [await answered(shop, entry(2)), entry(1, DAYS_AGO)];
    const { deliveries } = await recoverFrom({ logs }, shop);
    expect(deliveries).toMatchObject([{ reason: 'refused', outcome: 'handled' }]);
  });
});
