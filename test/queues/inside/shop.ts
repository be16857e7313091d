import type pg from 'pg';
import { createReceiver, type HandOff, type IdempotencyStore } from 'storefront-webhooks';
import { postgresLedger } from 'storefront-webhooks/postgres';
import { durableStore } from '../../support/durable.js';
import { ofAnyShop } from '../deliveries.js';

/** Simulates a power failure. */
export function dieHere(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

/** A queue around which its web process dies. */
export function deadlyQueue(queue: HandOff, death: string): HandOff {
  return {
    durable: true,
    async enqueue(delivery, options) {
      if (death === 'before enqueue') await dieHere();
      const job = await queue.enqueue(delivery, options);
      if (death === 'after enqueue') await dieHere();
      return job;
    },
  };
}

/** A shop whose handlers record their effects beside the queue. */
export function openShop(name: string, store: IdempotencyStore, pool: pg.Pool, death: string) {
  const ledger = postgresLedger(pool);
  let effects = 0;
  /** Dies after both handlers have had their effects, and before anything is recorded. */
  const afterEffect = async () => {
    effects++;
    while (death === 'after effect') {
      if (effects === 2) await dieHere();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const write = (tx: pg.Pool | pg.PoolClient, what: string) =>
    tx.query('INSERT INTO written (queue, what) VALUES ($1, $2)', [name, what]);

  const deadly = durableStore(
    (inner) => ({
      async complete(...args) {
        const isHeld = await inner.complete(...args);
        if (death === 'after complete') await dieHere();
        return isHeld;
      },
    }),
    store,
  );
  return createReceiver({
    secret: ofAnyShop,
    store: deadly,
    hooks: { onError() {}, onOutcome: ({ outcome }) => write(pool, outcome) },
  })
    .on(
      'order:paid',
      async () => {
        await write(pool, 'begun');
        await new Promise((resolve) => setTimeout(resolve, Number(process.env.SLOW_MS ?? 0)));
        // Hang until the test kills this process.
        if (death === 'in handler') await new Promise(() => {});
        await write(pool, 'plain effect');
        await afterEffect();
      },
      { name: 'plain' },
    )
    .on(
      'order:paid',
      async (event) => {
        if (death === 'in handler') await new Promise(() => {});
        await ledger.transaction(pool, event, (tx) => write(tx, 'ledger effect'));
        await afterEffect();
      },
      { name: 'ledger' },
    );
}
