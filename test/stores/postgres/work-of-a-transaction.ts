import type { IdempotencyStore } from 'storefront-webhooks';
import {
  type PostgresClient,
  postgresLedger,
  type TransactionSource,
} from 'storefront-webhooks/postgres';
import { describe, expect, test } from 'vitest';
import { acquire, KEEP_MS, newDelivery, newKey } from './claiming.js';

/** A driver, with the statements that the suite needs. */
export interface Driver<Tx extends PostgresClient> {
  readonly client: TransactionSource<Tx> & PostgresClient;
  readonly store: IdempotencyStore<Tx>;
  /** Runs a statement in the transaction. */
  run(tx: Tx, statement: string): PromiseLike<unknown>;
  /** Runs statements outside of the transaction. */
  exec(statements: string): Promise<unknown>;
  pieces(): Promise<number>;
}

export const STOCK = `CREATE TABLE stock (pieces integer CHECK (pieces >= 0));
  INSERT INTO stock VALUES (10)`;
export const PIECES = 'SELECT max(pieces)::text AS pieces FROM stock';
export const SELL = 'UPDATE stock SET pieces = pieces - 1';
export const BREAK = 'INSERT INTO stock VALUES (-1)';

export function termsOf(key: string, fence: number) {
  const { signal } = new AbortController();
  const limits = { timeoutMs: 60_000, signal, begin: async () => true };
  return { key, fence, effect: undefined, record: { keepMs: KEEP_MS }, ...limits };
}

/** Runs work in the transaction of a delivery, and returns what became of the delivery. */
export async function runInStore<Tx>(
  store: IdempotencyStore<Tx>,
  work: (tx: Tx) => unknown,
  delivery = newDelivery(),
) {
  const lease = { leaseMs: 70_000, isTransaction: true };
  const { fence } = await acquire(store, delivery, lease);
  const run = store.transactions?.run(termsOf(delivery.key, fence), work);
  const [ran] = await Promise.allSettled([run]);
  // An unfinished delivery fails, as in the receiver.
  if (ran.status === 'rejected')
    await store.fail(delivery.key, fence, { permanent: false, error: 'it threw' });
  const isDone = (await store.isDone?.(delivery.key)) === true;
  return { isDone, error: ran.status === 'rejected' ? ran.reason : undefined };
}

/** Tests that work cannot end its transaction, nor change it once the work has ended, with any driver. */
export function describeWork<Tx extends PostgresClient>(
  name: string,
  open: () => Promise<Driver<Tx>>,
): void {
  describe(`the work of a transaction of ${name}`, () => {
    /** Every way to run work in a transaction. */
    const ways = ['the store', 'the ledger'] as const;
    const start = async (way: (typeof ways)[number]) => {
      const driver = await open();
      const ledger = postgresLedger(driver.client);
      const effect = { key: newKey(), handler: 'ship' };
      const delivery = newDelivery();
      const work = async (run: (tx: Tx) => Promise<unknown>) => {
        if (way === 'the store') return runInStore(driver.store, run, delivery);
        const [ran] = await Promise.allSettled([ledger.transaction(driver.client, effect, run)]);
        const isDone = (await ledger.entered([effect.key])).length === 1;
        return { isDone, error: ran.status === 'rejected' ? ran.reason : undefined };
      };
      return { ...driver, work };
    };

    test('runs the statements in an array that it returns, or rolls all of them back', async () => {
      const { store, run, pieces } = await start('the store');
      const sold = await runInStore(store, (tx) => [run(tx, SELL), run(tx, SELL)]);
      expect(sold).toEqual({ isDone: true, error: undefined });
      const broken = await runInStore(store, (tx) => [run(tx, SELL), run(tx, BREAK)]);
      expect(broken).toMatchObject({
        isDone: false,
        error: { message: expect.stringContaining('check constraint') },
      });
      expect(await pieces()).toBe(8);
    });

    test('is told to use a savepoint if it has caught the error of a statement', async () => {
      const { work, run, pieces } = await start('the store');
      const { isDone, error } = await work(async (tx) => {
        await run(tx, SELL);
        const broken = async () => await run(tx, BREAK);
        await broken().catch(() => {});
      });
      expect(error).toMatchObject({
        code: 'transaction_missing',
        message: expect.stringMatching(/ON CONFLICT DO NOTHING.*SAVEPOINT.*tx\.savepoint/),
      });
      expect({ isDone, pieces: await pieces() }).toEqual({ isDone: false, pieces: 10 });
    });

    describe.each(ways)('in %s', (way) => {
      test('is done whole, or not at all, if it returns its statements in an array', async () => {
        const { work, run, pieces } = await start(way);
        // postgres.js runs them only when something awaits them.
        const sold = await work(async (tx) => [run(tx, SELL), run(tx, SELL)]);
        expect(sold).toEqual({ isDone: true, error: undefined });
        expect(await pieces()).toBe(8);
      });

      test.each([0, 1, 2, 3, 4])(
        'is done whole or not at all if it does not await a branch that fails after %i reads',
        async (reads) => {
          const { work, run, pieces } = await start(way);
          const branch = async (tx: Tx) => {
            for (let read = 0; read < reads; read++) await run(tx, 'SELECT 1');
            await run(tx, BREAK);
          };
          let branched: Promise<unknown> | undefined;
          const { isDone, error } = await work(async (tx) => {
            branched = branch(tx).catch(() => {});
            await run(tx, SELL);
          });
          await branched;
          expect({ isDone, pieces: await pieces() }).toEqual(
            error ? { isDone: false, pieces: 10 } : { isDone: true, pieces: 9 },
          );
        },
      );

      test.each([
        'COMMIT',
        '-- sold\ncommit;',
        '/* sold */ END',
        'ROLLBACK',
        'SELECT 1; COMMIT',
        "PREPARE TRANSACTION 'sold'",
      ])('cannot end the transaction: %s', async (end) => {
        const { work, run, pieces } = await start(way);
        for (const _ of ['once', 'twice']) {
          const { isDone, error } = await work(async (tx) => {
            await run(tx, SELL);
            await run(tx, end);
          });
          expect(error).toMatchObject({ name: 'UsageError', code: 'transaction_missing' });
          expect(isDone).toBe(false);
        }
        expect(await pieces()).toBe(10);
      });

      test('can undo a part, and name COMMIT in a text', async () => {
        const { work, run, pieces } = await start(way);
        const { isDone, error } = await work(async (tx) => {
          await run(tx, SELL);
          await run(tx, 'SAVEPOINT part');
          await run(tx, SELL);
          await run(tx, 'ROLLBACK TO part');
          await run(tx, 'SELECT \'; COMMIT\' AS "; END" -- ; ROLLBACK');
          await run(tx, "DO $$ BEGIN PERFORM 'it''s; END'; END $$");
        });
        expect({ error, isDone, pieces: await pieces() }).toEqual({
          error: undefined,
          isDone: true,
          pieces: 9,
        });
      });

      test('cannot run a statement once it has ended', async () => {
        const { work, run, pieces } = await start(way);
        let kept: Tx | undefined;
        const { isDone } = await work(async (tx) => {
          kept = tx;
          await run(tx, SELL);
        });
        const late = async () => kept && (await run(kept, SELL));
        await expect(late()).rejects.toMatchObject({ code: 'transaction_missing' });
        expect({ isDone, pieces: await pieces() }).toEqual({ isDone: true, pieces: 9 });
      });
    });
  });
}
