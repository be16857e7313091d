import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withRuntimes } from '../../../runtimes/installed.js';
import { drivers } from '../../../stores/sqlite/drivers.js';
import {
  bundleProcess,
  newFolder,
  openStore,
  type RemoteStore,
} from '../../../stores/sqlite/remote.js';
import { TABLE } from '../../../stores/transactions.js';
import { casesOf } from '../../../support/tier.js';

let code: string;
beforeAll(async () => {
  code = await bundleProcess([], 'selling.ts');
});

const tested = casesOf(drivers, ({ name }) => !/Node 2[46]|Deno|better/.test(name));

describe.each(tested)('onPaid with transaction through $name', ({ command, driver }) => {
  withRuntimes('on one file', () => {
    let store: RemoteStore;
    const sold = async () => (await store.sql('SELECT * FROM sold')).length;

    beforeEach(async () => {
      store = await openStore(command, driver, join(newFolder(), 'shop.db'), code);
      await store.exec(TABLE);
    });
    afterEach(() => store.stop());

    test('sells once for several events of an order', async () => {
      const sale = { outcome: 'handled', ran: ['onPaid'], errors: [] };
      expect(await store.deliverPaid('ord_1', 'paid_1', 'right')).toEqual(sale);
      const again = { outcome: 'duplicate', ran: [], errors: [] };
      expect(await store.deliverPaid('ord_1', 'paid_1', 'right')).toEqual(again);
      expect(await store.deliverPaid('ord_1', 'paid_2', 'right')).toEqual(again);
      const mail = { outcome: 'handled', ran: ['mail'], errors: [] };
      expect(await store.deliverPaid('ord_1', 'update_1', 'right')).toEqual(mail);
      expect(await store.deliverPaid('ord_2', 'update_2', 'right')).toEqual({
        ...mail,
        ran: ['onPaid', 'mail'],
      });
      expect(await sold()).toBe(2);
    });

    test.each([
      ['paid_1', ['onPaid']],
      ['update_1', ['onPaid', 'mail']],
    ])('rolls back a handler that fails, and sells once at the retry of %s', async (id, ran) => {
      expect(await store.deliverPaid('ord_1', id, 'sells and throws')).toEqual({
        outcome: 'failed',
        ran: [],
        errors: ['Error: out of licences'],
      });
      expect(await sold()).toBe(0);
      const sale = { outcome: 'handled', ran, errors: [] };
      expect(await store.deliverPaid('ord_1', id, 'right')).toEqual(sale);
      expect(await store.deliverPaid('ord_1', id, 'right')).toMatchObject({ outcome: 'duplicate' });
      expect(await sold()).toBe(1);
    });

    test('reports a handler that begins another transaction', async () => {
      expect(await store.deliverPaid('ord_1', 'paid_1', 'begins a transaction')).toEqual({
        outcome: 'failed',
        ran: [],
        errors: [expect.stringContaining('Leave out BEGIN')],
      });
      expect(await store.deliverPaid('ord_1', 'paid_1', 'right')).toMatchObject({
        outcome: 'handled',
      });
      expect(await sold()).toBe(1);
    });
  });
});
