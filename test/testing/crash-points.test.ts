import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  createReceiver,
  type IdempotencyStore,
  type Order,
  type WebhookEvent,
} from 'storefront-webhooks';
import { crashPoints, loadFixture } from 'storefront-webhooks/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

const secret = 'a secret for tests';
const observe = {
  mail: async (_to: string) => {},
  book: async (_id: string) => 'booked',
  stock: async () => {},
  key: () => 'AAAA',
};
type Shop = typeof observe;
type Paid = WebhookEvent<'order:paid', Order>;

const quiet = { onError() {}, onRejected() {} };
const shop =
  (handler: (event: Paid, shop: Shop) => unknown) => (store: IdempotencyStore, effects: Shop) =>
    createReceiver({ secret, store, hooks: quiet }).on('order:paid', (event) =>
      handler(event, effects),
    );
const find = (handler: (event: Paid, shop: Shop) => unknown) =>
  crashPoints(shop(handler), 'order:paid', { observe });
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 20));

/** Returns the findings as `effect problem times`. */
async function told(handler: (event: Paid, shop: Shop) => unknown) {
  const { findings } = await find(handler);
  return findings.map(({ effect, problem, times }) => `${effect} ${problem} ${times}`);
}

describe('crashPoints', () => {
  test('finds an effect outside of once(), and the lines between which once() is missing', async () => {
    const { findings, points } = await find(async ({ payload, once }, { mail, book }) => {
      await mail(payload.email);
      await once('book', () => book(payload.id));
    });
    expect(findings).toMatchObject([{ effect: 'mail', problem: 'twice', times: 2 }]);
    const [finding] = findings;
    const line = (place = '') =>
      Number(/^test\/testing\/crash-points\.test\.ts:(\d+):\d+$/.exec(place)?.[1]);
    expect(line(finding?.before)).toBe(line(finding?.after) + 1);
    expect(points).toEqual([finding?.after, finding?.before]);
    expect(finding?.message).toContain(
      `Give mail a once() of its own, which ends before ${finding?.before}.`,
    );
  });

  test.each(['route (copy).mjs', '(shop)/route.mjs', 'my shop/route 100%.mjs'])(
    'names the line of a handler in %s',
    async (name) => {
      const folder = mkdtempSync(join(tmpdir(), 'crash-points-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, name);
      mkdirSync(dirname(file), { recursive: true });
      const lines = [
        '  await mail(payload.email);',
        '  await new Promise((go) => setTimeout(go, 1));',
      ];
      writeFileSync(
        file,
        ['export async function handle({ payload }, { mail }) {', ...lines, '}'].join('\n'),
      );
      const { handle } = await import(pathToFileURL(file).href);
      const { findings, points } = await find(handle);
      const place = relative(process.cwd(), file);
      expect(findings).toMatchObject([{ effect: 'mail', problem: 'twice' }]);
      expect(points).toEqual([`${place}:2:9`, `${place}:3:9`]);
    },
  );

  test('finds nothing if each effect has its own once(), in any notation', async () => {
    expect(
      await told(async ({ payload, once }, { mail, book, stock, key }) => {
        await once('mail', async () => {
          await mail(payload.email);
        });
        await pause();
        const id = await once('book', async () => {
          const booked = await book(payload.id);
          return booked;
        });
        await Promise.resolve(id);
        await once('key', key);
        await once('stock', stock);
      }),
    ).toEqual([]);
  });

  test('finds nothing for parallel steps and for the last effect', async () => {
    const slow = { ...observe, mail: pause };
    const { findings } = await crashPoints(
      shop(async ({ payload, once }, { mail, book, stock }) => {
        await Promise.all([
          once('mail', () => mail(payload.email)),
          once('book', () => book(payload.id)),
        ]);
        await stock();
      }),
      'order:paid',
      { observe: slow },
    );
    expect(findings).toEqual([]);
  });

  test('leaves no timers running', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    await find(async ({ payload }, { mail, book }) => {
      await mail(payload.email);
      await book(payload.id);
    });
    expect(timers()).toBeLessThanOrEqual(before);
  });

  test('finds the first of two effects in one once()', async () => {
    expect(
      await told(({ payload, once }, { mail, book }) =>
        once('both', async () => {
          await mail(payload.email);
          await book(payload.id);
        }),
      ),
    ).toEqual(['mail twice 2']);
  });

  test('finds an effect that comes before an await of anything else', async () => {
    for (const wait of [pause, async () => {}])
      expect(
        await told(async ({ payload }, { mail }) => {
          await mail(payload.email);
          await wait();
        }),
      ).toEqual(['mail twice 2']);
    expect(
      await told(({ payload, once }, { mail }) =>
        once('mail', async () => {
          await mail(payload.email);
          await pause();
        }),
      ),
    ).toEqual(['mail twice 2']);
  });

  test('finds every effect, including synchronous ones', async () => {
    expect(
      await told(async ({ payload }, { key, mail, book, stock }) => {
        key();
        await mail(payload.email);
        await book(payload.id);
        await stock();
      }),
    ).toEqual(['key twice 2', 'mail twice 2', 'book twice 2']);
    const { findings } = await crashPoints(
      (store, { key, note }) =>
        createReceiver({ secret, store, hooks: quiet }).on('order:paid', () => {
          key();
          note();
        }),
      'order:paid',
      { observe: { key: () => 'AAAA', note: () => {} } },
    );
    expect(findings).toMatchObject([{ effect: 'key', problem: 'twice' }]);
  });

  test('finds a synchronous effect that comes before an await of anything else', async () => {
    expect(
      await told(async (_event, { key }) => {
        key();
        await pause();
      }),
    ).toEqual(['key twice 2']);
    expect(
      await told(async ({ once }, { key }) => {
        await Promise.all([once('key', key), once('other', async () => {})]);
        await pause();
      }),
    ).toEqual([]);
  });

  test('finds an effect that is not awaited', async () => {
    expect(
      await told(async ({ payload, once }, { mail, book }) => {
        await once('book', () => book(payload.id));
        void mail(payload.email);
      }),
    ).toEqual(['mail lost 1']);
  });

  test('counts an effect that happens several times in a handler', async () => {
    const twoMails = async ({ payload, once }: Paid, { mail, stock }: Shop) => {
      await once('first', () => mail(payload.email));
      await mail('me@shop.test');
      await once('stock', stock);
    };
    expect(await told(twoMails)).toEqual(['mail twice 3']);
  });

  describe('for a handler with transaction', () => {
    const sold: string[] = [];
    const tx = { sell: async (id: string) => sold.push(id) };
    const inTransaction = (
      handler: (event: Paid & { tx: typeof tx }, shop: Shop) => unknown,
      after: (event: Paid, shop: Shop) => unknown = () => {},
    ) =>
      crashPoints(
        (store: IdempotencyStore<typeof tx>, effects: Shop) =>
          createReceiver({ secret, store, hooks: quiet })
            .on('order:paid', (event) => handler(event, effects), {
              name: 'sell',
              oncePer: (order) => order.id,
              transaction: true,
            })
            .on('order:paid', (event) => after(event, effects), { name: 'after' }),
        'order:paid',
        { observe, tx },
      );

    test('finds an effect outside of the transaction, even the last one', async () => {
      const { findings } = await inTransaction(async ({ payload, tx }, { mail }) => {
        await tx.sell(payload.id);
        await mail(payload.email);
      });
      expect(findings).toMatchObject([{ effect: 'mail', problem: 'twice', times: 2 }]);
      expect(findings[0]?.message).toMatch(
        /^mail at test\/testing\/crash-points\.test\.ts:\d+:\d+ is outside of the transaction/,
      );
    });

    test('finds a synchronous effect', async () => {
      const { findings } = await inTransaction(({ tx }, { key }) => void tx.sell(key()));
      expect(findings).toMatchObject([{ effect: 'key', problem: 'twice' }]);
    });

    test('finds nothing if the effect has its own handler, and makes the sale once', async () => {
      sold.length = 0;
      const { findings, points } = await inTransaction(
        async ({ payload, tx }) => {
          await tx.sell(payload.id);
        },
        async ({ payload, once }, { mail, book }) => {
          await once('mail', () => mail(payload.email));
          await book(payload.id);
        },
      );
      expect(findings).toEqual([]);
      expect(points).toHaveLength(2);
      // Once in the first run, and in the first of two runs for each point; later runs do not repeat it.
      expect(sold).toHaveLength(3);
    });

    test('needs the tx of the handler', async () => {
      await expect(
        crashPoints(
          (store) =>
            createReceiver({ secret, store }).on('order:paid', () => {}, {
              name: 'sell',
              transaction: true,
            }),
          'order:paid',
          { observe },
        ),
      ).rejects.toMatchObject({
        code: 'option_invalid',
        message: expect.stringContaining('Pass a double of the client'),
      });
    });
  });

  test('finds a delivery that cannot be handled after a crash', async () => {
    const seen = new Set<string>();
    let run = 0;
    const { findings } = await crashPoints(
      (store, { stock }: { stock: Shop['stock'] }) => {
        run += 1;
        return createReceiver({ secret, store, hooks: quiet }).on('order:paid', async () => {
          // Each run and its repetition have the same id.
          const id = `order ${run >> 1}`;
          if (seen.has(id)) throw new Error('It is there already.');
          seen.add(id);
          await stock();
        });
      },
      'order:paid',
      { observe: { stock: observe.stock } },
    );
    expect(findings).toMatchObject([{ problem: 'unfinished', effect: 'stock' }]);
  });

  test('attributes the effects of parallel handlers to each handler', async () => {
    const { findings } = await crashPoints(
      (store, { mail, book }) =>
        createReceiver({ secret, store, hooks: quiet })
          .on('order:paid', () => mail('a'), { name: 'mail' })
          .on('order:paid', ({ payload }) => book(payload.id), {
            name: 'book',
            oncePer: ({ id }) => id,
          }),
      'order:paid',
      { observe },
    );
    expect(findings).toEqual([]);
  });

  describe('for two handlers that run once per order', () => {
    const findBoth = (deliver: (event: Paid, shop: Shop) => unknown) =>
      crashPoints(
        (store: IdempotencyStore, shop: Shop) =>
          createReceiver({ secret, store, hooks: quiet })
            .onPaid((event) => deliver(event as Paid, shop))
            .onPaid(
              async ({ payload, once }) => {
                await once('mail', () => shop.mail(payload.email));
                await once('book', () => shop.book(payload.id));
              },
              { name: 'mail' },
            ),
        'order:paid',
        { observe },
      );

    test('finds nothing if one is done while the other still awaits its effect', async () => {
      const { findings } = await findBoth(async ({ once }, { stock }) => {
        await once('stock', stock);
      });
      expect(findings).toEqual([]);
    });

    test('finds an effect that one of them does not await', async () => {
      const { findings } = await findBoth(async ({ once }, { stock, mail }) => {
        await once('stock', stock);
        void mail('me@shop.test');
      });
      expect(findings).toMatchObject([{ effect: 'mail', problem: 'lost' }]);
    });
  });

  test('rejects wrong arguments with advice', async () => {
    const ok = shop(() => {});
    // @ts-expect-error
    await expect(crashPoints(ok, 'order:paid', { observe, obseve: {} })).rejects.toThrow('obseve');
    await expect(crashPoints(ok, 'order:created', { observe })).rejects.toThrow('200 ignored');
    await expect(
      crashPoints(() => createReceiver({ secret }), 'order:paid', { observe: {} }),
    ).rejects.toThrow('observe: {');
    // @ts-expect-error
    await expect(crashPoints(() => 1, 'order:paid', { observe })).rejects.toThrow(
      'returns a receiver',
    );
  });

  const paid = loadFixture('order:paid');
  test.each<[string, unknown, string]>([
    ['an array of names', ['order:paid'], 'an array'],
    ['an array of fixtures', [paid], 'an array'],
    ['an empty array', [], 'an array'],
    ['no fixture', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a number', 7, 'number'],
    ['a request without a body', { headers: [] }, 'an object without headers or body'],
    [
      'an order',
      JSON.parse(new TextDecoder().decode(paid.body)),
      'an object without headers or body',
    ],
  ])('rejects %s as its fixture', async (_what, fixture, named) => {
    const makeReceiver = vi.fn(shop(() => {}));
    await expect(
      Reflect.apply(crashPoints, undefined, [makeReceiver, fixture, { observe }]),
    ).rejects.toMatchObject({
      name: 'UsageError',
      code: 'fixture_invalid',
      message: expect.stringContaining(
        `crashPoints() needs one fixture, or the name of one such as 'order:paid', as its second argument, not ${named}.`,
      ),
    });
    expect(makeReceiver).not.toHaveBeenCalled();
  });
});
