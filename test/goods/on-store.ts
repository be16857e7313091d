import type { IdempotencyStore } from 'storefront-webhooks';
import { createGoods, type Goods, type MakeGoods } from 'storefront-webhooks/goods';
import { afterEach, describe, expect, test } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { call, ORDER, SECRET } from './calls.js';

/** Tests goods on a real store. */
export function describeGoods(
  name: string,
  make: () => IdempotencyStore | Promise<IdempotencyStore>,
) {
  /** A separate server on the same store. */
  const server = (store: IdempotencyStore, makeGoods: MakeGoods) => {
    const goods = createGoods({ secret: SECRET, store, hooks: { onError() {} } }, makeGoods);
    opened.push(goods);
    return goods;
  };
  const opened: Goods[] = [];
  const never: MakeGoods = () => {
    throw new Error('They were made before.');
  };

  describe(`goods on ${name}`, () => {
    // An open receiver purges the store in the background, and so also deliveries of the next test.
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((goods) => goods.close()));
    });

    test('are always the same bytes, from any server', async () => {
      const store = await make();
      const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const text = 'Schlüssel "\\\u0000\u{1f511}\r\n\ud800';
      const goods = server(store, ({ id }) => (id === 'text' ? text : bytes));
      const first = [
        await call(goods, { ...ORDER, id: 'text' }),
        await call(goods, { ...ORDER, id: 'bytes' }),
      ];
      expect([...(first[1]?.bytes ?? [])]).toEqual([...bytes]);
      await store.purge(100);
      const restarted = server(store, never);
      for (const { bytes, headers } of first) {
        const id = headers['content-type']?.startsWith('text') ? 'text' : 'bytes';
        for (let time = 0; time < 2; time++) {
          const again = await call(restarted, { ...ORDER, id });
          expect(again).toMatchObject({ status: 200, headers, outcome: 'duplicate' });
          expect([...again.bytes]).toEqual([...bytes]);
        }
      }
    });

    test('are made once for many simultaneous calls to several servers', async () => {
      const store = await make();
      let made = 0;
      const makeOne = async () => {
        made += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return `KEY-${made}`;
      };
      const servers = Array.from({ length: 4 }, () => server(store, makeOne));
      const answers = await Promise.all(
        servers.flatMap((goods) => Array.from({ length: 5 }, () => call(goods))),
      );
      expect(new Set(answers.map(({ status, body }) => `${status} ${body}`))).toEqual(
        new Set(['200 KEY-1']),
      );
      expect(made).toBe(1);
    });

    test('that failed are made again, and completed steps are not repeated', async () => {
      const store = await make();
      const goods = server(store, async (_order, { once, attempt }) => {
        const key = await once('reserve', () => `KEY of attempt ${attempt}`);
        if (attempt < 3) throw new Error('the printer is out of paper');
        return key;
      });
      for (const status of [500, 500, 200]) expect((await call(goods)).status).toBe(status);
      expect((await call(goods)).body).toBe('KEY of attempt 1');
    });

    test('of a server that was frozen are not sent if another one has made them', async () => {
      const store = await make();
      let thaw = () => {};
      const isThawed = new Promise<void>((resolve) => {
        thaw = resolve;
      });
      let begin = () => {};
      const hasBegun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const lapsing = forward(store, {
        claim: (delivery, lease) => store.claim(delivery, { ...lease, leaseMs: 1 }),
      });
      const frozen = call(
        server(lapsing, async () => {
          begin();
          await isThawed;
          return 'OF THE FROZEN ONE';
        }),
      );
      await hasBegun;
      const other = await call(server(store, () => 'OF THE OTHER'));
      thaw();
      expect(other).toMatchObject({ status: 200, body: 'OF THE OTHER' });
      expect(await frozen).toMatchObject({ status: 503 });
      expect(await call(server(store, never))).toMatchObject({ body: 'OF THE OTHER' });
    });

    test('may have 1 MiB, and are never listed as dead', async () => {
      const store = await make();
      const bytes = Uint8Array.from({ length: 1024 * 1024 }, (_, index) => (index * 7) % 251);
      await call(server(store, () => bytes));
      const { status, bytes: given } = await call(server(store, never));
      expect(status).toBe(200);
      expect(Buffer.from(given).equals(bytes)).toBe(true);
      for (const state of ['dead', 'stalled', 'failing'] as const) {
        expect(await store.list({ state })).toEqual([]);
      }
      expect(
        await call(
          server(store, () => 'KEY'),
          { ...ORDER, id: 'ord_2' },
        ),
      ).toMatchObject({
        body: 'KEY',
      });
    });
  });
}
