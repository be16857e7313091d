import {
  createReceiver,
  type IdempotencyStore,
  type Order,
  type WebhookEvent,
} from 'storefront-webhooks';
import { crashPoints } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';

const observe = {
  mail: async (_to: string) => {},
  book: async (_id: string) => 'booked',
  key: () => 'AAAA',
};
const quiet = { onError() {}, onRejected() {} };
type Shop = typeof observe;
type Paid = WebhookEvent<'order:paid', Order>;

describe('crashPoints for handlers that keep orders of their own', () => {
  /** Handlers with a database of each run, or with one database of all runs. */
  const findWith = (
    handler: (event: Paid, shop: Shop, orders: Set<string>) => unknown,
    isFresh = true,
  ) => {
    let run = 0;
    const databases: Set<string>[] = [];
    return crashPoints(
      (store: IdempotencyStore, effects: Shop) => {
        run += 1;
        const index = isFresh ? run >> 1 : 0;
        const orders = databases[index] ?? new Set<string>();
        databases[index] = orders;
        return createReceiver({ secret: 'a secret for tests', store, hooks: quiet }).on(
          'order:paid',
          (event) => handler(event, effects, orders),
        );
      },
      'order:paid',
      { observe },
    );
  };

  test('finds an effect that is skipped because the order was recorded before the crash', async () => {
    const { findings } = await findWith(async ({ payload }, { mail }, orders) => {
      if (orders.has(payload.id)) return;
      orders.add(payload.id);
      await mail(payload.email);
    });
    expect(findings).toMatchObject([{ effect: 'mail', problem: 'lost', times: 0 }]);
    const [finding] = findings;
    expect(finding?.after).toMatch(/^test\/testing\/crash-points-lost\.test\.ts:\d+:\d+$/);
    expect(finding?.before).toBe(finding?.after);
    expect(finding?.message).toContain('happened in neither run');
  });

  test('finds the second of two calls of an effect', async () => {
    const { findings } = await findWith(async ({ payload }, { mail }, orders) => {
      if (orders.has(payload.id)) return;
      await mail(payload.email);
      orders.add(payload.id);
      await mail('me@shop.test');
    });
    expect(findings).toMatchObject([{ effect: 'mail', problem: 'lost', times: 1 }]);
    const [, line = 0] = /:(\d+):\d+$/.exec(findings[0]?.after ?? '') ?? [];
    expect(findings[0]?.before).toContain(`:${line}:`);
    expect(findings[0]?.message).toContain('happened only once');
  });

  test('finds an effect that is lost at one place while it happens again at another', async () => {
    const { findings } = await findWith(async ({ payload }, { mail }, orders) => {
      await mail(payload.email);
      if (orders.has(payload.id)) return;
      orders.add(payload.id);
      await mail('me@shop.test');
    });
    expect(findings).toMatchObject([
      { effect: 'mail', problem: 'twice', times: 2 },
      { effect: 'mail', problem: 'lost', times: 1 },
    ]);
    const [line = 0, next = 0] = findings.map(({ after }) => Number(after.split(':').at(-2)));
    expect(next - line).toBe(3);
  });

  describe('that call all effects through one function', () => {
    const call = async <Args extends unknown[]>(
      effect: (...args: Args) => unknown,
      ...args: Args
    ) => {
      await effect(...args);
    };

    test('finds only the effect outside of once() happening twice', async () => {
      const { findings } = await findWith(async ({ payload, once }, { mail, book, key }) => {
        await once('mail', () => call(mail, payload.email));
        await call(book, payload.id);
        await once('key', () => call(key));
      });
      expect(findings).toMatchObject([{ effect: 'book', problem: 'twice', times: 2 }]);
    });

    test('finds one effect that happens twice, and another that is lost', async () => {
      const { findings } = await findWith(async ({ payload }, { mail, book }, orders) => {
        await call(mail, payload.email);
        if (orders.has(payload.id)) return;
        orders.add(payload.id);
        await call(book, payload.id);
      });
      expect(findings).toMatchObject([
        { effect: 'mail', problem: 'twice', times: 2 },
        { effect: 'book', problem: 'lost', times: 0 },
      ]);
    });

    test('finds the second of two calls of an effect', async () => {
      const { findings } = await findWith(async ({ payload, once }, { mail, book }, orders) => {
        await once('mail', () => call(mail, payload.email));
        if (orders.has(payload.id)) return;
        await once('first', () => call(book, 'first'));
        orders.add(payload.id);
        await once('second', () => call(book, 'second'));
      });
      expect(findings).toMatchObject([{ effect: 'book', problem: 'lost', times: 1 }]);
    });
  });

  test('finds an effect that only the first attempt has', async () => {
    const { findings } = await findWith(async ({ attempt, once }, { mail, key }) => {
      if (attempt === 1) await mail('a');
      await once('key', key);
    });
    expect(findings).toMatchObject([{ effect: 'mail', problem: 'lost', times: 0 }]);
  });

  test('finds nothing if a retry does what the first attempt did not', async () => {
    const retried = await findWith(async ({ attempt, once, payload }, { mail, book }) => {
      if (attempt > 1) await once('late', () => {});
      await once('book', () => book(payload.id));
      await once('mail', () => mail(payload.email));
    });
    expect(retried.findings).toEqual([]);
    const { findings } = await findWith(async ({ payload, once }, { mail, book }, orders) => {
      orders.add(payload.id);
      await once('book', () => book(payload.id));
      await mail(payload.email);
    });
    expect(findings).toEqual([]);
  });

  test('rejects handlers that do nothing in a later run', async () => {
    const found = findWith(async ({ payload }, { mail }, orders) => {
      if (orders.has(payload.id)) return;
      await mail(payload.email);
      orders.add(payload.id);
    }, false);
    await expect(found).rejects.toMatchObject({
      code: 'option_invalid',
      message: expect.stringContaining('give each run a fresh database'),
    });
  });
});

test('crashPoints finds the effect outside of once(), and not one in once() whose error the handler caught', async () => {
  const print = () => {
    throw new Error('no paper');
  };
  const { findings } = await crashPoints(
    (store, effects) =>
      createReceiver({ secret: 'a secret for tests', store, hooks: quiet }).on(
        'order:paid',
        async ({ payload, once }) => {
          await once('print', () => {
            try {
              effects.print();
            } catch {}
          });
          await effects.mail(payload.email);
          await once('key', () => effects.key());
        },
      ),
    'order:paid',
    { observe: { ...observe, print } },
  );
  expect(findings).toMatchObject([{ effect: 'mail', problem: 'twice', times: 2 }]);
});
