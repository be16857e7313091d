import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Claimable } from 'storefront-webhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withRuntimes } from '../../../runtimes/installed.js';
import { LONG_AGO_MS } from '../../../stores/model.js';
import { drivers } from '../../../stores/sqlite/drivers.js';
import { OLDER_SCHEMA, olderClaim, olderComplete } from '../../../stores/sqlite/older.js';
import { newFolder, openStore, type RemoteStore } from '../../../stores/sqlite/remote.js';
import { newDelivery } from '../../../stores/suite.js';

const terms = (leaseMs: number) => ({
  owner: randomUUID(),
  leaseMs,
  keepMs: 60_000,
  maxCrashes: 9,
});

describe.each(drivers)('SQLite through $name', ({ command, driver }) => {
  withRuntimes('a file of the previous version', () => {
    let file: string;
    let stores: RemoteStore[];
    const open = async () => {
      const store = await openStore(command, driver, file);
      stores.push(store);
      return store;
    };
    const older = async () => {
      const store = await open();
      await store.exec(OLDER_SCHEMA);
      return store;
    };
    const stall = (store: RemoteStore, delivery: Claimable) =>
      store.claim(delivery, terms(LONG_AGO_MS));
    const proofs = async (store: RemoteStore) =>
      (await store.list({ state: 'stalled', limit: 9 })).map(({ key, proof }) => [key, proof]);

    beforeEach(() => {
      file = join(newFolder(), 'webhooks.db');
      stores = [];
    });
    afterEach(async () => {
      for (const store of stores) await store.stop();
    });

    test('still works, and keeps a proof after the update', async () => {
      const store = await older();
      const before = newDelivery();
      await store.exec(olderClaim(before.key));
      const delivery = { ...newDelivery(), proof: 'the proof' };
      expect(await stall(store, delivery)).toMatchObject({ state: 'acquired' });
      const expected = [
        [before.key, undefined],
        [delivery.key, 'the proof'],
      ];
      expect(await proofs(store)).toEqual(expected.sort());
      expect(await store.redrive(before.key)).toBe(true);
    });

    test('still works for a process of the previous version', async () => {
      const store = await older();
      const [first, second] = [{ ...newDelivery(), proof: 'the proof' }, newDelivery()];
      await stall(store, first);
      await store.exec(olderComplete(first.key));
      await store.exec(olderClaim(second.key));
      expect(await store.claim(first, terms(60_000))).toEqual({ state: 'done' });
      expect(await proofs(store)).toEqual([[second.key, undefined]]);
    });

    test('is updated once by several processes that start at the same time', async () => {
      const all = [await older(), await open(), await open()];
      const claims = await Promise.all(
        all.map((store) => stall(store, { ...newDelivery(), proof: 'the proof' })),
      );
      expect(claims.map(({ state }) => state)).toEqual(['acquired', 'acquired', 'acquired']);
    });

    test('that is restored under an open store is updated', async () => {
      const store = await open();
      await stall(store, newDelivery());
      await store.exec('DROP TABLE webhook_delivery');
      await store.exec(OLDER_SCHEMA);
      const delivery = { ...newDelivery(), proof: 'the proof' };
      await stall(store, delivery).catch(() => {});
      expect(await stall(store, delivery)).toMatchObject({ state: 'acquired' });
      expect(await proofs(store)).toEqual([[delivery.key, 'the proof']]);
    });

    test('does not keep the proof of a done delivery', async () => {
      const store = await open();
      const delivery = { ...newDelivery(), proof: 'the proof' };
      const claim = await stall(store, delivery);
      const fence = claim.state === 'acquired' ? claim.fence : 0;
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(true);
      expect(await store.sql('SELECT body, proof FROM webhook_delivery')).toEqual([
        { body: null, proof: null },
      ]);
    });
  });
});
