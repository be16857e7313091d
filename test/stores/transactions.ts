import {
  createReceiver,
  type IdempotencyStore,
  type Order,
  type TransactTerms,
  type WebhookEvent,
} from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { gate } from '../support/gate.js';

/** A driver, with the statements that the suite needs. */
export interface Seller<Tx> {
  readonly store: IdempotencyStore<Tx>;
  /** A store of another process. */
  readonly other: IdempotencyStore<Tx>;
  /** Runs a statement in the transaction. */
  run(tx: Tx, statement: string): unknown;
  /** Runs statements outside of the transaction. */
  exec(statements: string): Promise<unknown>;
  sold(): Promise<number>;
}

export const TABLE = 'CREATE TABLE sold (order_id text NOT NULL)';
type Paid<Tx> = WebhookEvent<'order:paid', Order> & { readonly tx: Tx };

/** Tests handlers with `transaction` on any store that has transactions. */
export function describeTransactions<Tx>(
  name: string,
  open: () => Promise<Seller<Tx>>,
  {
    isSynchronous = false,
    // Moves the claim a second into the past. A transaction that is gone holds it no longer.
    expire = `UPDATE webhook_delivery SET fence = fence - 1000 WHERE state = 'leased'`,
    soldAtCommit = 0,
  }: {
    readonly isSynchronous?: boolean;
    /** How much a handler sells that then runs COMMIT, which the client of a transaction refuses. */
    readonly soldAtCommit?: number;
    /** Makes the claim of a process that has died free for the next. */
    readonly expire?: string;
  } = {},
): void {
  describe(name, () => {
    const shop = async () => {
      const seller = await open();
      const onError = vi.fn();
      const receiver = (store = seller.store) =>
        createReceiver({ secret: SECRET, store, hooks: { onError, onRejected() {} } });
      const insert = ({ tx, payload }: Paid<Tx>) =>
        seller.run(tx, `INSERT INTO sold VALUES ('${payload.id}')`);
      /** A handler in the driver's form, after which `then` runs. */
      const sell = (then: () => void = () => {}) =>
        isSynchronous
          ? (event: Paid<Tx>) => {
              insert(event);
              then();
            }
          : async (event: Paid<Tx>) => {
              await insert(event);
              then();
            };
      return { ...seller, onError, receiver, sell };
    };
    const ONCE = { name: 'sell', oncePer: (order: Order) => order.id, transaction: true } as const;
    const EACH = { name: 'sell', transaction: true } as const;

    test('commits the work of a handler together with its delivery', async () => {
      const { receiver, sell, sold, store } = await shop();
      const shop1 = receiver().on('order:paid', sell(), EACH);
      const order = paidOrder();
      expect(await deliver(shop1, order, { id: 'whl_1' })).toMatchObject({
        outcome: 'handled',
        ran: ['sell'],
      });
      expect(await deliver(shop1, order, { id: 'whl_1' })).toMatchObject({
        status: 200,
        outcome: 'duplicate',
      });
      expect(await sold()).toBe(1);
      expect(await store.count({ state: 'failing' })).toBe(0);
    });

    test('rolls back the work of a failing handler, and counts the attempt', async () => {
      const { receiver, sell, sold, store, onError } = await shop();
      let fails = 1;
      const selling = receiver().on(
        'order:paid',
        sell(() => {
          if (fails-- > 0) throw new Error('out of licences');
        }),
        ONCE,
      );
      expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
        status: 500,
        outcome: 'failed',
      });
      expect(await sold()).toBe(0);
      expect(onError).toHaveBeenCalledTimes(1);
      expect(await store.list({ state: 'failing' })).toMatchObject([
        {
          id: 'whl_1',
          attempts: 1,
          error: expect.stringContaining('out of licences'),
          interrupted: false,
        },
      ]);
      expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
        outcome: 'handled',
      });
      expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
        outcome: 'duplicate',
      });
      expect(await sold()).toBe(1);
    });

    test('runs an effect once for any deliveries', async () => {
      const { receiver, sell, sold } = await shop();
      const selling = receiver().on('order:paid', sell(), ONCE);
      expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
        outcome: 'handled',
      });
      expect(await deliver(selling, paidOrder(), { id: 'whl_2' })).toMatchObject({
        outcome: 'duplicate',
        ran: [],
      });
      expect(await sold()).toBe(1);
    });

    test('skips an effect that was marked as done, or done without a transaction', async () => {
      const { receiver, sell, sold } = await shop();
      const before = vi.fn();
      const older = receiver().on('order:paid', before, { ...ONCE, transaction: false });
      await deliver(older, paidOrder({ id: 'ord_before' }), { id: 'whl_1' });
      const selling = receiver().on('order:paid', sell(), ONCE);
      await selling.markDone('sell', 'ord_marked');
      for (const id of ['ord_before', 'ord_marked', 'ord_new']) {
        await deliver(selling, paidOrder({ id }), { id: `whl_of_${id}` });
      }
      expect(before).toHaveBeenCalledTimes(1);
      expect(await sold()).toBe(1);
      expect(await selling.markDone('sell', 'ord_new')).toBe(false);
    });

    test('is busy while a plain handler is doing its effect', async () => {
      const { receiver, sell, sold, other } = await shop();
      const handling = gate();
      const begun = gate();
      const slow = () => {
        begun.open();
        return handling.opened;
      };
      const older = receiver(other).on('order:paid', slow, { ...ONCE, transaction: false });
      const first = deliver(older, paidOrder(), { id: 'whl_1' });
      await begun.opened;
      const selling = receiver().on('order:paid', sell(), ONCE);
      expect(await deliver(selling, paidOrder(), { id: 'whl_2' })).toMatchObject({
        status: 503,
        outcome: 'busy',
      });
      handling.open();
      expect(await first).toMatchObject({ outcome: 'handled' });
      expect(await deliver(selling, paidOrder(), { id: 'whl_2' })).toMatchObject({
        outcome: 'duplicate',
      });
      expect(await sold()).toBe(0);
    });

    test('sells once for simultaneous copies in two processes', async () => {
      const { receiver, sell, sold, store, other } = await shop();
      const shops = [store, other].map((one) => receiver(one).on('order:paid', sell(), ONCE));
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, copy) =>
          Promise.all(
            shops.map((one, place) =>
              deliver(one, paidOrder(), { id: `whl_${(copy + place) % 5}` }),
            ),
          ),
        ),
      );
      const outcomes = results.flat().map(({ outcome }) => outcome);
      expect(await sold()).toBe(1);
      expect(outcomes.filter((outcome) => outcome === 'handled')).toHaveLength(1);
      expect(
        outcomes.filter((outcome) => !['handled', 'duplicate', 'busy'].includes(outcome)),
      ).toEqual([]);
    });

    // A handler on SQLite cannot take long: it blocks everything else, even in another process.
    const testAsync = isSynchronous ? () => {} : test;
    testAsync('holds its delivery for longer than its claim', async () => {
      const { receiver, sold, run, store, other } = await shop();
      const GAP = 400;
      const slowly = async (event: Paid<Tx>) => {
        await run(event.tx, `INSERT INTO sold VALUES ('${event.payload.id}')`);
        await new Promise((resolve) => setTimeout(resolve, GAP));
      };
      const [first, second] = [store, other].map((one) =>
        receiver(one).on('order:paid', slowly, EACH),
      );
      if (!first || !second) throw new Error('There are two.');
      const running = deliver(first, paidOrder(), { id: 'whl_1' });
      await new Promise((resolve) => setTimeout(resolve, GAP / 2));
      const copy = await deliver(second, paidOrder(), { id: 'whl_1' });
      expect([(await running).outcome, copy.outcome]).toEqual(['handled', 'duplicate']);
      expect(await sold()).toBe(1);
    });

    test.each(['beside it', 'in it'])('repeats only the handler that failed: %s', async (where) => {
      const { receiver, sell, sold } = await shop();
      const mail = vi.fn();
      let fails = 1;
      const maybe = () => {
        if (fails-- > 0) throw new Error('not now');
      };
      const selling = receiver()
        .on('order:paid', sell(where === 'in it' ? maybe : () => {}), EACH)
        .on(
          'order:paid',
          async () => {
            if (where === 'beside it') maybe();
            mail();
          },
          { name: 'mail' },
        );
      expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
        outcome: 'failed',
      });
      expect(await sold()).toBe(where === 'in it' ? 0 : 1);
      expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
        outcome: 'handled',
      });
      expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
        outcome: 'duplicate',
      });
      expect(mail).toHaveBeenCalledTimes(1);
      expect(await sold()).toBe(1);
    });

    test.each([
      ['first', 'sell'],
      ['last', 'sell-more'],
    ])(
      'runs several handlers, each in its own transaction, if the %s fails',
      async (_, failing) => {
        const { receiver, sell, sold } = await shop();
        let fails = 1;
        const sellBut = (name: string) =>
          sell(() => {
            if (name === failing && fails-- > 0) throw new Error('not now');
          });
        const selling = receiver()
          .on('order:paid', sellBut('sell'), EACH)
          .on('order:paid', sellBut('sell-more'), { ...ONCE, name: 'sell-more' });
        expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
          outcome: 'failed',
        });
        expect(await sold()).toBe(1);
        expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
          ran: [failing],
        });
        expect(await sold()).toBe(2);
      },
    );

    test('rejects once(), because a rollback would undo the record of its step', async () => {
      const { receiver, sold, onError } = await shop();
      const step = vi.fn();
      const selling = receiver().on('order:paid', ({ once }) => void once('mail', step), EACH);
      expect(await deliver(selling, paidOrder(), { id: 'whl_1' })).toMatchObject({
        outcome: 'failed',
      });
      expect(step).not.toHaveBeenCalled();
      expect(`${onError.mock.calls[0]?.[0].cause ?? onError.mock.calls[0]?.[0]}`).toContain(
        'once()',
      );
      expect(await sold()).toBe(0);
    });

    test('rejects a handler that ends the transaction', async () => {
      const { receiver, run, sell, sold, store } = await shop();
      const [insert, end] = [sell(), (event: Paid<Tx>) => run(event.tx, 'COMMIT')];
      const selling = receiver().on(
        'order:paid',
        isSynchronous
          ? (event) => {
              insert(event);
              void end(event);
            }
          : async (event) => {
              await insert(event);
              await end(event);
            },
        EACH,
      );
      expect(await deliver(selling, paidOrder())).toMatchObject({ outcome: 'failed' });
      expect(await sold()).toBe(soldAtCommit);
      expect(await store.count({ state: 'failing' })).toBe(1);
    });

    test('counts the attempts of a delivery that was never finished', async () => {
      const { receiver, sell, sold, store, exec } = await shop();
      const selling = receiver().on('order:paid', sell(), ONCE);
      // A process that dies after it has begun its transaction leaves the claim.
      for (let death = 1; death <= 5; death++) {
        await new Promise<void>((resolve) => {
          const run = async ({ begin }: TransactTerms) => {
            await begin();
            resolve();
            return new Promise<never>(() => {});
          };
          const refuseStep = (): never => {
            throw new Error();
          };
          const dying = { ...store, transactions: { check() {}, refuseStep, run } };
          void deliver(
            receiver(dying).on('order:paid', () => {}, EACH),
            paidOrder(),
            {
              id: 'whl_1',
            },
          );
        });
        await exec(expire);
      }
      await vi.waitFor(async () => {
        const result = await deliver(selling, paidOrder(), { id: 'whl_1' });
        expect(result).toMatchObject({ outcome: 'parked' });
      });
      expect(await sold()).toBe(0);
      expect(await store.list({ state: 'dead' })).toMatchObject([
        { id: 'whl_1', interrupted: true },
      ]);
    });
  });
}
