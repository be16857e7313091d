import { describe, expect, test } from 'vitest';
import { STATEMENTS } from '../../../src/stores/sqlite/statements.js';
import { NO_EFFECTS } from '../effects.js';
import { LONG_AGO_MS } from '../model.js';
import { OLDER_SCHEMA, olderClaim } from '../sqlite/older.js';
import { newDelivery } from '../suite.js';
import { acquire, terms, testBodiesAndClocks } from '../workerd/cases.js';
import type { Effect, Served, ServedStore } from '../workerd/served.js';

const SELL = ['UPDATE stock SET n = n - 1'] as const;

export function describeD1(worker: () => Served) {
  const open = async () => {
    const store = worker().store({ store: 'd1' });
    await store.count({ state: 'dead' });
    await store.sql('DELETE FROM webhook_delivery');
    return store;
  };

  describe('D1', () => {
    testBodiesAndClocks(open);

    test('whose tables are gone rejects every lease, and works again', async () => {
      const store = await open();
      const delivery = newDelivery();
      const { fence } = await acquire(store, delivery);
      await store.sql('DROP TABLE webhook_delivery');
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(false);
      await store.sql('DROP TABLE webhook_delivery');
      const claims = await Promise.all(
        Array.from({ length: 9 }, () => store.claim(delivery, terms())),
      );
      expect(claims.filter(({ state }) => state === 'acquired')).toHaveLength(1);
    });

    test('with a table of the previous version keeps a proof after the update', async () => {
      const store = await open();
      await store.sql('DROP TABLE webhook_delivery');
      for (const statement of OLDER_SCHEMA.split(';').filter((sql) => sql.trim() !== '')) {
        await store.sql(statement);
      }
      const before = newDelivery();
      await store.sql(olderClaim(before.key));
      const all = Array.from({ length: 5 }, () => ({ ...newDelivery(), proof: 'the proof' }));
      await Promise.all(all.map((one) => acquire(store, one, { leaseMs: LONG_AGO_MS })));
      const listed = await store.list({ state: 'stalled', limit: 9 });
      const proofs = listed.map(({ proof }) => proof ?? 'none').sort();
      expect(proofs).toEqual(['none', ...all.map(({ proof }) => proof)]);
    });

    test.each(['dead', 'stalled', 'failing', 'countDead', 'countStalled', 'countFailing'] as const)(
      'reads only open deliveries for %s, because D1 charges for each row that is read',
      async (name) => {
        const store = await open();
        const plan = await store.sql(
          `EXPLAIN QUERY PLAN ${STATEMENTS[name].replaceAll('?', 'NULL')}`,
        );
        expect(plan.map(({ detail }) => detail).join()).toContain(
          'INDEX webhook_delivery_unfinished',
        );
      },
    );
  });

  describe('the D1 ledger', () => {
    const shop = async () => {
      const store = await open();
      await store.sql('CREATE TABLE IF NOT EXISTS stock (n INTEGER CHECK (n >= 0))');
      await store.sql('CREATE TABLE IF NOT EXISTS buyer (name TEXT PRIMARY KEY)');
      await store.sql('DELETE FROM stock');
      await store.sql('DELETE FROM buyer');
      await store.sql('INSERT INTO stock VALUES (10)');
      return { store, effect: { key: newDelivery().key, handler: 'order:paid' } };
    };
    const stock = async (store: ServedStore) => (await store.sql('SELECT n FROM stock'))[0]?.n;

    test('returns the keys under which an effect is entered, each once', async () => {
      const { store, effect } = await shop();
      await store.once(effect, [SELL]);
      await store.once({ ...effect, handler: 'other' }, [SELL]);
      const asked = [effect.key, newDelivery().key];
      expect(await store.entered(asked)).toEqual([effect.key]);
      await expect(store.entered(['ord_1'])).rejects.toMatchObject({ code: 'key_invalid' });
      await store.sql('DROP TABLE webhook_effect');
      expect(await store.entered(asked)).toEqual([]);
    });

    test('runs an effect once for each key and handler', async () => {
      const { store, effect } = await shop();
      expect(await store.once(effect, [SELL])).toBe(true);
      expect(await store.once(effect, [SELL])).toBe(false);
      expect(await store.once({ ...effect, handler: 'other' }, [SELL])).toBe(true);
      expect(await store.once({ ...effect, key: newDelivery().key }, [SELL])).toBe(true);
      expect(await stock(store)).toBe(7);
    });

    test('runs an effect once for twenty simultaneous calls', async () => {
      const { store, effect } = await shop();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => store.once(effect, [SELL])),
      );
      expect(answers.filter(Boolean)).toHaveLength(1);
      expect(await stock(store)).toBe(9);
    });

    test('rolls back if a statement fails, so that the effect still happens once', async () => {
      const { store, effect } = await shop();
      const tooMany = ['UPDATE stock SET n = n - ?', 99] as const;
      await expect(store.once(effect, [SELL, tooMany])).rejects.toThrow(/CHECK constraint/);
      expect(await stock(store)).toBe(10);
      expect(await store.once(effect, [SELL])).toBe(true);
      expect(await store.once(effect, [SELL, tooMany])).toBe(false);
      expect(await stock(store)).toBe(9);
    });

    test.each([
      ['of a table of the user', ['INSERT INTO buyer VALUES (?)', 'Ann'], /buyer\.name/],
      [
        'of the ledger itself, caused by a statement of the user',
        [
          "INSERT INTO webhook_effect SELECT key, 'again', at FROM webhook_effect WHERE handler = ?",
          'again',
        ],
        /webhook_effect/,
      ],
    ] as const)('throws the UNIQUE error %s, and rolls back', async (_, statement, message) => {
      const { store, effect } = await shop();
      await store.once({ ...effect, handler: 'again' }, []);
      await store.sql("INSERT INTO buyer VALUES ('Ann')");
      await expect(store.once(effect, [SELL, statement])).rejects.toThrow(message);
      expect(await stock(store)).toBe(10);
      expect(await store.once(effect, [SELL])).toBe(true);
    });

    test('creates its table if it is missing, but no table of the user', async () => {
      const { store, effect } = await shop();
      await store.sql('DROP TABLE webhook_effect');
      expect(await store.once(effect, [SELL])).toBe(true);
      expect(await stock(store)).toBe(9);
      const other = { ...effect, handler: 'other' };
      const missing = ['INSERT INTO missing VALUES (1)'] as const;
      await expect(store.once(other, [SELL, missing])).rejects.toThrow(/no such table: missing/);
      expect(await stock(store)).toBe(9);
    });

    test.each(NO_EFFECTS)('rejects an invalid effect: %s', async (_, no) => {
      const { store } = await shop();
      // A JavaScript program can pass anything.
      const sold = store.once(no as Effect, [SELL]);
      await expect(sold).rejects.toMatchObject({ code: 'key_invalid' });
      expect(await stock(store)).toBe(10);
    });
  });
}
