import { replay } from 'storefront-webhooks/testing';
import { expect, test, vi } from 'vitest';
import { useKeys } from '../../examples/keys.js';
import { WEBHOOK_SECRET } from '../../examples/shop.js';
import { withPostgres } from '../../support/postgres.js';

withPostgres('the shop of licence keys', () => {
  const { open, call, codesOf, enter, query, connect } = useKeys();

  test('an order gets one key, for any number of calls and crashes', async () => {
    const first = await open();
    await first.stop();
    await enter('KEY-', 100);
    const given = new Set<string>();
    const ask = async (origin: string) => {
      const { status, body } = await replay(`${origin}/goods`, 'goods', { secret: WEBHOOK_SECRET });
      if (status === 200) given.add(body);
    };
    for (const killedAfterMs of [0, 30, 60]) {
      const shop = await open();
      const asked = Promise.allSettled(Array.from({ length: 4 }, () => ask(shop.origin)));
      await new Promise((resolve) => setTimeout(resolve, killedAfterMs));
      await shop.stop();
      await asked;
    }
    const shop = await open();
    // A killed process may hold its lease for ten seconds, and the call waits.
    await replay(`${shop.origin}/goods`, 'goods', { secret: WEBHOOK_SECRET, timeout: 20_000 });
    await ask(shop.origin);
    expect([...given]).toEqual([expect.stringMatching(/^KEY-\d+$/)]);
    const taken = await query('SELECT code FROM licence WHERE order_id IS NOT NULL');
    expect(taken.rows).toEqual([{ code: [...given][0] }]);
    const refused = await replay(`${shop.origin}/goods`, 'goods/not-paid', {
      secret: WEBHOOK_SECRET,
    });
    expect(refused).toMatchObject({ status: 422, outcome: 'rejected' });
    shop.terminate();
    expect(await shop.ended).toBe(0);
  });

  test('a query that was given up, and still runs, takes no further keys', async () => {
    const shop = await open();
    const asked = { id: 'ord_slow', quantity: 2 };
    const holder = await connect();
    // Reads go on, and writes wait.
    await holder.query('BEGIN; LOCK TABLE licence IN SHARE MODE');
    expect(await call(shop.origin, asked)).toMatchObject({ status: 500 });
    const next = call(shop.origin, asked);
    await vi.waitFor(async () => {
      const waiting =
        "SELECT count(*)::int AS n FROM pg_locks WHERE relation = 'licence'::regclass AND NOT granted";
      expect((await query(waiting)).rows).toEqual([{ n: 2 }]);
    }, 5000);
    await holder.query('COMMIT');
    holder.release();
    await next;
    expect(await call(shop.origin, asked)).toMatchObject({ status: 200 });
    expect(await codesOf('ord_slow')).toHaveLength(2);
    await shop.stop();
  });
});
