import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { product, useKeys } from '../../examples/keys.js';
import { withPostgres } from '../../support/postgres.js';

withPostgres('the shop of licence keys', () => {
  const { open, call, codesOf, enter, query } = useKeys();

  test('sells only the keys that were entered', async () => {
    for (const entered of [0, 100]) {
      const shop = await open();
      await shop.stop();
      const { rows } = await query('SELECT count(*)::int AS n FROM licence');
      expect(rows).toEqual([{ n: entered }]);
      if (entered === 0) await enter('KEY-', 100);
    }
  });

  describe('while it runs', () => {
    let started: Awaited<ReturnType<typeof open>> | undefined;
    beforeAll(async () => {
      started = await open();
    });
    afterAll(() => started?.stop());
    const originOf = () => started?.origin ?? '';

    test('an order of several keys gets all of them, and each call the same ones', async () => {
      const orders = ['ord_a', 'ord_b', 'ord_c'];
      const calls = orders.flatMap((id) => [1, 2].map(() => call(originOf(), { id, quantity: 3 })));
      const answers = await Promise.all(calls);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      for (const [place, id] of orders.entries()) {
        const codes = await codesOf(id);
        expect(codes).toHaveLength(3);
        for (const { body } of answers.slice(2 * place, 2 * place + 2))
          expect(body.split('\n').sort()).toEqual(codes);
      }
    });

    test('keys that were taken before a crash are the keys of the order', async () => {
      await query(
        "INSERT INTO licence VALUES ('OLD-1', $1, 'ord_crashed', 1), ('OLD-2', $1, 'ord_crashed', 2)",
        [product],
      );
      const answer = await call(originOf(), { id: 'ord_crashed', quantity: 2 });
      expect(answer).toMatchObject({ status: 200, body: 'OLD-1\nOLD-2' });
      expect(await codesOf('ord_crashed')).toEqual(['OLD-1', 'OLD-2']);
    });

    test('an order gets none if too few are left, or if its quantity is unreadable', async () => {
      for (const [id, quantity] of Object.entries({ ord_many: 1000, ord_text: '3', ord_none: 0 })) {
        expect(await call(originOf(), { id, quantity })).toMatchObject({ status: 500 });
        expect(await codesOf(id)).toEqual([]);
      }
    });
  });
});
